internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentManifests
internal import InstrumentProbe

/// A log of each stream's requests, as one JSON object per line. Only its owner may read the file: addresses
/// show what a person watches.
struct RequestLog {
    private let log: LineLog

    /// Creates or replaces the file. Exits with code 2 if the file cannot be written.
    init(path: String) throws { log = try LineLog(path: path, mode: .replace) }

    /// Logs the requests of a probe, which is the stream with that number, from 1.
    func watch(_ probe: Probe, stream: Int) {
        let (log, source) = (log, probe.source.description)
        probe.report(requestsTo: { record in log.append(Self.json(record, stream: stream, source: source).bytes) })
    }

    /// Writes the remaining lines; false if any line could not be written.
    func finish() -> Bool { log.finish() }

    private static func json(_ record: RequestRecord, stream: Int, source: String) -> JSONValue {
        let milliseconds = { (duration: Duration?) in
            duration.map { JSONValue.double((($0 / .microseconds(1)).rounded()) / 1000) } ?? .null
        }
        return [
            "stream": .int(stream), "source": .string(source), "number": .int(record.number),
            "kind": .string("\(record.kind)"), "url": .string(record.url),
            "range": record.byteRange.map { .string($0.headerValue) } ?? .null,
            "earlierFailures": .int(record.earlierFailures),
            "begun": .int(Int(clamping: record.begun.wallTime.milliseconds)),
            "status": record.status.map { .int($0) } ?? .null,
            "failure": record.failure.map { .string($0) } ?? .null, "bytes": .int(record.byteCount),
            "nameLookup": milliseconds(record.nameLookup), "connect": milliseconds(record.connect),
            "tls": milliseconds(record.tls), "firstByte": milliseconds(record.firstByte),
            "total": milliseconds(record.total), "redirects": .int(record.redirectCount),
            "version": .string(record.version),
        ]
    }
}
