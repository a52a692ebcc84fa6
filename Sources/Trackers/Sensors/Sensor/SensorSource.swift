/// A source of readings of one kind.
///
/// A started source calls back until it is stopped. A source that is not started has no thread, timer, socket or open
/// file. While a source runs, its device may disappear and return: the source then reports
/// ``SensorUpdate/absent(_:)``, and readings again later.
package protocol SensorSource<Reading>: Sendable {
    /// The type of a reading, which defines its units.
    associatedtype Reading: Sendable

    /// The current update, without starting the source: a new reading where that is quick, else the latest reading.
    func current() -> SensorUpdate<Reading>

    /// Starts the source; it calls `receive` on any thread, one call at a time, and never inside `start`.
    func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun
}

/// An update of a source.
package enum SensorUpdate<Reading: Sendable>: Sendable {
    /// A reading.
    case reading(Reading)
    /// The sensor does not exist, for the given reason. Normal on many machines.
    case absent(SensorAbsence)

    /// The reading; nil without one.
    package var reading: Reading? { if case .reading(let reading) = self { reading } else { nil } }
    /// The reason why the sensor does not exist; nil if it exists.
    package var absence: SensorAbsence? { if case .absent(let absence) = self { absence } else { nil } }
}

extension SensorUpdate {
    /// Returns the same update with another reading.
    package func map<Other>(_ transform: (Reading) -> Other) -> SensorUpdate<Other> {
        switch self {
        case .reading(let reading): .reading(transform(reading))
        case .absent(let absence): .absent(absence)
        }
    }
}

extension SensorUpdate: Equatable where Reading: Equatable {}

/// The reason for the absence of a reading.
package enum SensorAbsence: String, Hashable, Sendable, CaseIterable {
    /// The machine has no such sensor.
    case missing
    /// The sensor's values cannot be read or are invalid.
    case unreadable
    /// The sensor has not reported a value yet.
    case silent
    /// The system does not let this process read it.
    case denied
    /// The person disallows it: ``SensorChoices``.
    case disallowed
}

/// A handle of a started source.
public struct SensorRun: Sendable {
    private let onStop: @Sendable () -> Void

    /// Creates a handle whose ``stop()`` calls `onStop`, which must be safe to call more than once.
    package init(onStop: @escaping @Sendable () -> Void) { self.onStop = onStop }

    /// Stops the source; returns immediately. A call on another thread may still end afterwards.
    public func stop() { onStop() }
}

/// The source of a sensor that does not exist on this device.
package struct AbsentSource<Reading: Sendable>: SensorSource {
    private let absence: SensorAbsence

    /// Creates a source without readings.
    package init(_ absence: SensorAbsence = .missing) { self.absence = absence }

    /// None.
    package func current() -> SensorUpdate<Reading> { .absent(absence) }
    /// Calls no listener.
    package func start(_ receive: @escaping @Sendable (SensorUpdate<Reading>) -> Void) -> SensorRun { SensorRun {} }
}
