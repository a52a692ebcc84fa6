import Instrument
import Logging
import Synchronization

/// The peer of an emit: a handler of swift-log that keeps each line with its 25 values in an array.
struct ArrayHandler: LogHandler {
    struct Line {
        let level: Logger.Level
        let message: Logger.Message
        let metadata: Logger.Metadata
        let time: Timestamp
    }

    /// The lines, which another part of an app would take from time to time.
    final class Lines: Sendable {
        private let lines = Mutex<[Line]>([])

        func append(_ line: Line) { lines.withLock { $0.append(line) } }
        func removeAll() { lines.withLock { $0.removeAll(keepingCapacity: true) } }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(
        level: Logger.Level,
        message: Logger.Message,
        metadata: Logger.Metadata?,
        source: String,
        file: String,
        function: String,
        line: UInt
    ) {
        let all = metadata.map { self.metadata.merging($0) { _, new in new } } ?? self.metadata
        lines.append(Line(level: level, message: message, metadata: all, time: SystemClock().timestamp))
    }
}

/// The names of the 25 values.
private let names = (0..<25).map { "custom\($0)" }

/// The same 25 values as `attributes(_:)` makes, as metadata of a line.
func metadata(_ number: Int) -> Logger.Metadata {
    var metadata = Logger.Metadata(minimumCapacity: 25)
    for (index, name) in names.enumerated() {
        switch index % 4 {
        case 0: metadata[name] = .stringConvertible(number &+ index)
        case 1: metadata[name] = .stringConvertible(Double(index) * 1.5)
        case 2: metadata[name] = .stringConvertible(index % 2 == 0)
        default: metadata[name] = .string("a value")
        }
    }
    return metadata
}
