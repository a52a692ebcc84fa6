public import Instrument
public import InstrumentManifests
internal import InstrumentTransport

/// A request of a probe and its result. Contains no credentials and no query.
public struct RequestRecord: Hashable, Sendable {
    /// The number of the request within the playback, from 0.
    public var number: Int
    /// The kind of the resource.
    public var kind: ResourceKind
    /// The requested address, without credentials, query and fragment.
    public var url: String
    /// The requested byte range; nil for the whole resource.
    public var byteRange: ByteRange?
    /// The number of earlier failures of the same request.
    public var earlierFailures: Int
    /// The instant at which the request began.
    public var begun: Timestamp
    /// The HTTP status; nil without an answer.
    public var status: Int?
    /// The reason of the failure, for people; nil if the request succeeded.
    public var failure: String?
    /// The kind of the failure; nil if the request succeeded.
    package var failureKind: RequestFailureKind?
    /// Bytes of the body as the server sent it: compressed ones of a body with a content coding.
    public var byteCount: Int
    /// The time of the name lookup; nil on a reused connection.
    public var nameLookup: Duration?
    /// The time to connect; nil on a reused connection.
    public var connect: Duration?
    /// The time of the TLS handshake; nil without TLS and on a reused connection.
    public var tls: Duration?
    /// From the request to the first byte of the body; nil if no byte arrived.
    public var firstByte: Duration?
    /// From the request to the last byte, or to the failure.
    public var total: Duration
    /// The number of followed redirects.
    public var redirectCount: Int
    /// The protocol: `1.1`, `2`, `3`; empty if unknown.
    public var version: String
    /// The network address of the server that answered; nil if it is unknown.
    package var serverAddress: String?
}

extension RequestRecord {
    init(_ fetching: Fetching, _ result: Result<ResourceResponse, ResourceFailure>, _ clock: any SchedulingClock) {
        let now = clock.now
        let finished: FinishedRequest
        number = fetching.number
        kind = fetching.purpose.kind
        url = fetching.request.url.description
        byteRange = fetching.request.range
        earlierFailures = fetching.failures
        begun = clock.timestamp(of: fetching.begun)
        var timings: HTTPTimings?
        switch result {
        case .success(let response):
            status = response.status
            finished = fetching.finished(with: response, at: now)
            timings = response.timings
            (redirectCount, version) = (response.redirectCount, response.version)
            serverAddress = response.serverAddress
        case .failure(let failed):
            if case .status(let number) = failed.failure { status = number }
            failure = failed.message
            failureKind = RequestFailureKind(failed)
            finished = fetching.ended(at: now, hasFailed: true)
            timings = failed.timings
            (redirectCount, version) = (0, "")
        }
        (byteCount, firstByte, total) = (finished.bytes, finished.firstByte, finished.time)
        nameLookup = timings?.nameLookup
        connect = timings?.connect
        tls = timings?.tls
    }
}
