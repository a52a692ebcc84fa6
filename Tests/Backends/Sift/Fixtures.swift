import Foundation
import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import Testing

@testable import InstrumentSift

/// A transport that records its requests and always responds with the same status and body.
final class RecordingTransport: HTTPTransport {
    private let status: Int
    private let headers: HTTPHeaders
    private let body: [UInt8]
    private let sent = Lock([HTTPRequest]())

    init(status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), body: String = "") {
        (self.status, self.headers, self.body) = (status, headers, Array(body.utf8))
    }

    var requests: [HTTPRequest] { sent.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        sent.withLock { $0.append(request) }
        return HTTPResponse(status: status, headers: headers, body: body, url: request.url)
    }
}

/// Fails with the given error.
struct FailingTransport: HTTPTransport {
    let code: HTTPError.Code
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(code, "could not reach acc/1", url: request.url)
    }
}

/// Retries without a pause: every jitter is the smallest.
struct NoJitter: RandomNumberGenerator, Sendable {
    mutating func next() -> UInt64 { 0 }
}

enum Make {
    static let wallTime = WallTime(milliseconds: 1_795_248_300_042)

    static func credentials() throws -> SiftCredentials {
        try #require(SiftCredentials(accountID: "acc/1", beaconKey: "beacon-key"))
    }

    static func record(_ sample: Sample, _ sequence: UInt64 = 0) -> SampleRecord {
        SampleRecord(id: SampleID(log: 7, sequence: sequence), sequence: sequence, sample: sample)
    }

    static func sample(_ name: String, _ attributes: Attributes = [:]) -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: wallTime)
        return .event(Event(Action(name), tracker: TrackerID(0), time: time, attributes: attributes))
    }

    static func logged(_ event: SiftEvent, in queue: SiftQueue = .standard) -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: event.time)
        return SiftSample.make(event, queue, from: TrackerID(0), at: time)
    }

    static func event(_ number: Int, type: String = "Tap") -> SiftEvent {
        SiftEvent(time: wallTime, type: type, fields: ["n": String(number)])
    }

    /// A golden file's text without the line break at its end.
    static func golden(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
