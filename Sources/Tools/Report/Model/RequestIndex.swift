internal import Instrument
internal import InstrumentJSON

/// The requests that `player-monitor play --requests` logged, by stream and source.
package struct RequestIndex: Sendable {
    private struct Stream: Hashable, Sendable {
        let tracker: Int
        let source: String
    }
    private struct Entry: Sendable {
        let begun: Int64
        let length: Int
        let isFailure: Bool
    }

    /// The largest number of requests that are kept.
    private static let mostEntries = 1_000_000
    private var entries: [Stream: [Entry]] = [:]
    private var count = 0
    /// Lines that are not requests.
    package private(set) var problemCount = 0

    /// Creates an empty index.
    package init() {}

    /// Adds a line of the log.
    package mutating func add(line: [UInt8]) {
        guard let json = try? JSONValue(parsing: line), let stream = json["stream"]?.int, stream > 0,
            let begun = json["begun"]?.int,
            let source = json["source"]?.string, count < Self.mostEntries
        else {
            problemCount += 1
            return
        }
        count += 1
        let isFailure = json["failure"]?.string != nil
        let entry = Entry(begun: Int64(begun), length: Self.milliseconds(json["total"]), isFailure: isFailure)
        entries[Stream(tracker: stream - 1, source: source), default: []].append(entry)
    }

    private static func milliseconds(_ json: JSONValue?) -> Int {
        switch json {
        case .int(let value): max(0, value)
        case .double(let value): Int(exactly: max(0, value).rounded()) ?? 0
        default: 0
        }
    }

    /// Orders the requests once all lines were added.
    mutating func sort() {
        for stream in entries.keys { entries[stream]?.sort { $0.begun < $1.begun } }
    }

    /// The requests of a session, after ``sort()``; nil if the log has none of them.
    func requests(tracker: Int?, source: String, in span: ClosedRange<Int64>) -> [Timeline.Request]? {
        guard let tracker, let entries = entries[Stream(tracker: tracker, source: source)] else { return nil }
        let first = entries.partitioningIndex { $0.begun >= span.lowerBound }
        let own = entries[first...].prefix { $0.begun <= span.upperBound }
        if own.isEmpty { return nil }
        return own.map { entry in
            Timeline.Request(
                time: Int(entry.begun - span.lowerBound),
                length: entry.length,
                count: 1,
                failures: entry.isFailure ? 1 : 0
            )
        }
    }
}
