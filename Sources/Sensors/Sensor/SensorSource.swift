/// Where readings of one kind come from.
///
/// One manner for all: a source that is started calls back until it is stopped. A source that nobody has started has no thread,
/// timer, socket or open file. Sources come and go while they run: they say ``SensorUpdate/absent(_:)`` when what they read is
/// gone, and readings again once it is back.
public protocol SensorSource<Reading>: Sendable {
    /// The type of a reading, which defines its units.
    associatedtype Reading: Sendable

    /// What there is now, without starting anything: read at this moment where that is quick, else the last that was read.
    func current() -> SensorUpdate<Reading>

    /// Starts; `receive` is called on a thread of the source's choice, never inside `start`, one call at a time.
    func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun
}

/// What a source says.
public enum SensorUpdate<Reading: Sendable>: Sendable {
    /// A reading.
    case reading(Reading)
    /// The sensor does not exist, and why. Normal on many machines.
    case absent(SensorAbsence)

    /// The reading, if it is one.
    public var reading: Reading? { if case .reading(let reading) = self { reading } else { nil } }
    /// The reason why the sensor does not exist; nil if it exists.
    public var absence: SensorAbsence? { if case .absent(let absence) = self { absence } else { nil } }
}

extension SensorUpdate {
    /// The same with another reading.
    public func map<Other>(_ transform: (Reading) -> Other) -> SensorUpdate<Other> {
        switch self {
        case .reading(let reading): .reading(transform(reading))
        case .absent(let absence): .absent(absence)
        }
    }
}

extension SensorUpdate: Equatable where Reading: Equatable {}

/// Why there is no reading.
public enum SensorAbsence: String, Hashable, Sendable, CaseIterable {
    /// The machine has no such sensor.
    case missing
    /// There is a sensor, and what it says cannot be read or makes no sense.
    case unreadable
    /// There is a sensor, and it has said nothing yet.
    case silent
    /// The system does not let this process read it.
    case denied
    /// The person does not want it read: ``SensorChoices``.
    case disallowed
}

/// A source that was started.
public struct SensorRun: Sendable {
    private let onStop: @Sendable () -> Void

    /// Creates a handle whose ``stop()`` calls `onStop`, which must be safe to call more than once.
    public init(onStop: @escaping @Sendable () -> Void) { self.onStop = onStop }

    /// Stops it; returns at once. A call that is under way on another thread may still end afterwards.
    public func stop() { onStop() }
}

/// The source of a sensor that does not exist on this device.
public struct AbsentSource<Reading: Sendable>: SensorSource {
    private let absence: SensorAbsence

    /// Creates a source that never reads anything.
    public init(_ absence: SensorAbsence = .missing) { self.absence = absence }

    /// None.
    public func current() -> SensorUpdate<Reading> { .absent(absence) }
    /// Calls nobody.
    public func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun { SensorRun {} }
}
