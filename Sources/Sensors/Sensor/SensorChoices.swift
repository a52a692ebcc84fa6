internal import Instrument
internal import InstrumentFiles
internal import InstrumentJSON

/// What the person lets be read: kept in a file, and obeyed at once.
///
/// A sensor whose kind is disallowed is stopped, what it had read is thrown away, and nothing of it is read until it is allowed
/// again. A file that is damaged disallows everything that it does not name, because the choice that was lost may have been
/// that. Safe from any thread.
public final class SensorChoices: Sendable {
    private struct State {
        var choices: [String: Bool]
        var isDamaged: Bool
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    private let path: String?
    private let state: Lock<State>
    /// One save at a time, so that the last choice is the one that is kept.
    private let saving = Lock(())

    /// Creates choices that last as long as the process.
    public init() {
        path = nil
        state = Lock(State(choices: [:], isDamaged: false))
    }

    /// Reads choices from the file at `path`, which need not exist yet; later choices are written there (mode 0600, wholly or
    /// not at all). For one process at a time.
    public init(path: String) {
        self.path = path
        do throws(FileError) {
            let bytes = try SmallFile.read(path, atMost: 1 << 20, followsLinks: true)
            let choices = bytes.map(Self.choices)
            state = Lock(State(choices: choices.flatMap { $0 } ?? [:], isDamaged: choices.map { $0 == nil } ?? false))
        } catch {
            state = Lock(State(choices: [:], isDamaged: !error.isMissing))
        }
    }

    /// Whether a kind may be read.
    public func allows(_ kind: SensorKind) -> Bool {
        state.withLock { $0.choices[kind.name] ?? ($0.isDamaged ? false : kind.isOnByDefault) }
    }

    /// Allows or disallows kinds from now on. It holds for this process even if it cannot be kept.
    /// - Throws: ``SensorError`` if it could not be written down; the call may be repeated.
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

    private static func choices(in bytes: [UInt8]) -> [String: Bool]? {
        guard let json = try? JSONValue(parsing: bytes), case .object(let members)? = json["allowed"],
            json["damaged"] != .bool(true)
        else { return nil }
        var choices: [String: Bool] = [:]
        for (name, value) in members {
            // What is neither yes nor no may have been a no.
            choices[name] = value == .bool(true)
        }
        return choices
    }
}

/// What went wrong with what sensors and device keep in files, and what to do.
public struct SensorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened and what to do.
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ error: FileError) { self.init("\(error); check the directory and its permissions") }
}
