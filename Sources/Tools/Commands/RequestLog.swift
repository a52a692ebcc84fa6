internal import Instrument
internal import InstrumentCMCDBackend
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

    /// Returns a function that logs the requests of a probe, which is the stream with that number, from 1.
    func observer(of probe: Probe, stream: Int) -> @Sendable (RequestRecord) -> Void {
        let (log, source) = (log, probe.source.description)
        return { record in log.append(Self.json(record, stream: stream, source: source).bytes) }
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

extension RequestRecord {
    /// The attributes of `Action.mediaResponse`.
    var responseAttributes: Attributes {
        var attributes: Attributes = [:]
        attributes[.responseURL] = url
        attributes[.responseStatus] = status
        attributes[.timeToFirstByte] = firstByte
        attributes[.timeToLastByte] = failure == nil ? total : nil
        attributes[.requestStartTime] = Int(clamping: begun.wallTime.milliseconds)
        switch kind {
        case .manifest, .playlist: attributes[.responseObjectType] = "m"
        case .initialization: attributes[.responseObjectType] = "i"
        case .key, .licence: attributes[.responseObjectType] = "k"
        case .subtitles: attributes[.responseObjectType] = "c"
        case .segment, .clock, .steering: break
        }
        return attributes
    }
}
