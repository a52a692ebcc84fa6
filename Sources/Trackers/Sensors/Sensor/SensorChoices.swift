internal import Instrument
internal import InstrumentFiles
internal import InstrumentJSON

/// The person's choices which sensors may be read: kept in a file, and effective immediately.
///
/// A sensor whose kind is disallowed stops and discards its readings until it is allowed again. A damaged file
/// disallows every kind that it does not name, because the lost choice may have disallowed it. Safe from any thread.
public final class SensorChoices: Sendable {
    private struct State {
        var choices: [String: Bool]
        var isDamaged: Bool
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    private let path: String?
    private let state: Lock<State>
    /// One save at a time, so that the file contains the last choice.
    private let saving = Lock(())

    /// Creates choices without a file, for this process.
    public init() {
        path = nil
        state = Lock(State(choices: [:], isDamaged: false))
    }

    /// Reads choices from the file at `path`, which need not exist yet, and writes later choices there (mode 0600,
    /// atomically). For one process at a time.
    public init(path: String) {
        self.path = path
        do throws(FileError) {
            let bytes = try SmallFile.read(path, atMost: 1 << 20, followsLinks: true)
            let (choices, isDamaged) = bytes.map(Self.choices) ?? ([:], false)
            state = Lock(State(choices: choices, isDamaged: isDamaged))
        } catch {
            state = Lock(State(choices: [:], isDamaged: !error.isMissing))
        }
    }

    /// Whether a kind may be read.
    public func allows(_ kind: SensorKind) -> Bool {
        state.withLock { $0.choices[kind.name] ?? ($0.isDamaged ? false : kind.isOnByDefault) }
    }

    /// Allows or disallows kinds from now on. Effective in this process even if the file cannot be written.
    /// - Throws: ``SensorError`` if the file cannot be written; the call may be repeated.
    public func set(_ kinds: [SensorKind], allowed isAllowed: Bool) throws(SensorError) {
        let observers = state.withLock { state in
            for kind in kinds { state.choices[kind.name] = isAllowed }
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
        try save()
    }

    /// Calls `observer` after each change until the result is stopped.
    func observe(_ observer: @escaping @Sendable () -> Void) -> SensorRun {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.observers[state.nextNumber] = observer
            return state.nextNumber
        }
        return SensorRun { [weak self] in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    private func save() throws(SensorError) {
        guard let path else { return }
        try saving.withLock { _ throws(SensorError) in
            let (choices, isDamaged) = state.withLock { ($0.choices, $0.isDamaged) }
            let json: JSONValue = [
                "version": 1, "allowed": .object(choices.mapValues { .bool($0) }), "damaged": .bool(isDamaged),
            ]
            do throws(FileError) { try SmallFile.write(json.bytes, to: path) } catch { throw SensorError(error) }
        }
    }

    /// The choices in a file, and whether earlier choices were lost with a damaged file.
    private static func choices(in bytes: [UInt8]) -> (choices: [String: Bool], isDamaged: Bool) {
        guard let json = try? JSONValue(parsing: bytes), case .object(let members)? = json["allowed"] else {
            return ([:], true)
        }
        var choices: [String: Bool] = [:]
        for (name, value) in members {
            // A value that is neither true nor false counts as a refusal.
            choices[name] = value == .bool(true)
        }
        return (choices, json["damaged"] == .bool(true))
    }
}

/// An error of the files of sensors and device, and what to do.
public struct SensorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The event and the remedy.
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) { self.init("\(error); check the directory and its permissions") }
}
