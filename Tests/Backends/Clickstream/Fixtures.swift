import Foundation
import Instrument
import InstrumentClickstream
import InstrumentTransport
import LoopbackServers

final class TestDelegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent: String
    let preferredBatchSize: Int
    private let state: Lock<Attributes>

    init(_ url: String, userAgent: String = "Film/3.1 (test)", size: Int = 10, metadata: Attributes = [:]) throws {
        environment = ClickstreamEnvironment("test", endpoint: try HTTPURL(url))
        self.userAgent = userAgent
        preferredBatchSize = size
        state = Lock(metadata)
    }

    var metadata: Attributes {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// A transport that records its requests and always responds with the same status.
final class RecordingTransport: HTTPTransport {
    private let status: Int
    private let headers: HTTPHeaders
    private let sent = Lock([HTTPRequest]())

    init(status: Int = 200, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }

    var requests: [HTTPRequest] { sent.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        sent.withLock { $0.append(request) }
        return HTTPResponse(status: status, headers: headers, url: request.url)
    }
}

/// Retries without a pause: every jitter is the smallest.
struct NoJitter: RandomNumberGenerator, Sendable {
    mutating func next() -> UInt64 { 0 }
}

enum Make {
    /// A Saturday in November 2026.
    static let time = Timestamp(
        instant: MonotonicInstant(nanoseconds: 5),
        wallTime: WallTime(milliseconds: 1_795_248_300_042)
    )

    static func record(_ sample: Sample, _ sequence: UInt64 = 0) -> SampleRecord {
        SampleRecord(id: SampleID(log: 7, sequence: sequence), sequence: sequence, sample: sample)
    }

    static func event(_ name: String, _ attributes: Attributes = [:]) -> Sample {
        .event(Event(Action(name), tracker: TrackerID(0), time: time, attributes: attributes))
    }

    static func batch(_ range: Range<Int>) -> Batch {
        Batch(records: range.map { record(event("Tap", ["n": .int($0)]), UInt64($0)) })
    }
}
