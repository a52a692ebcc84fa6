internal import ArgumentParser
internal import Instrument
internal import InstrumentJSON
internal import InstrumentManifests
internal import InstrumentProbe

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Each request of every stream as a line of JSON, in a file.
final class RequestLog: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        var hasFailed = false
    }

    private static let bufferSize = 64 << 10
    private let descriptor: Int32
    private let state = Lock(State())

    /// Opens the file anew, readable for the user alone: addresses tell what a person watches. Ends with 2 if it cannot be
    /// written.
    init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw ValidationError("cannot write \(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Logs the requests of a probe, which is the stream of this number, from 1.
    func watch(_ probe: Probe, stream: Int) {
        let source = probe.source.description
        probe.report(requestsTo: { [weak self] record in
            self?.append(Self.json(record, stream: stream, source: source).bytes)
        })
    }

    /// Writes what is left; false if anything could not be written.
    func finish() -> Bool {
        state.withLock { state in
            flush(&state)
            return !state.hasFailed
        }
    }

    private func append(_ line: [UInt8]) {
        state.withLock { state in
            state.buffer += line
            state.buffer.append(UInt8(ascii: "\n"))
            if state.buffer.count >= Self.bufferSize { flush(&state) }
        }
    }

    private func flush(_ state: inout State) {
        if !writeAll(state.buffer, to: descriptor) { state.hasFailed = true }
        state.buffer = []
    }

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
