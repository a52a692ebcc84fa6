public import Instrument
public import InstrumentManifests
internal import InstrumentTransport

/// A request that a probe has made, and what came of it. Carries no credentials and no query.
public struct RequestRecord: Hashable, Sendable {
    /// Which request of the playback it is, from 0.
    public var number: Int
    /// What was fetched.
    public var kind: ResourceKind
    /// Where it was asked for, without credentials, query and fragment.
    public var url: String
    /// The part that was asked for; nil for all.
    public var byteRange: ByteRange?
    /// How often the same had failed before.
    public var earlierFailures: Int
    /// When it began.
    public var begun: Timestamp
    /// The HTTP status; nil without an answer.
    public var status: Int?
    /// What went wrong, for people; nil if nothing did.
    public var failure: String?
    /// Bytes of the body.
    public var byteCount: Int
    /// Looking up the name; nil on a connection that stood already.
    public var nameLookup: Duration?
    /// Connecting; nil on a connection that stood already.
    public var connect: Duration?
    /// Agreeing on TLS; nil without, and on a connection that stood already.
    public var tls: Duration?
    /// From its beginning to the first byte of the body; nil if none came.
    public var firstByte: Duration?
    /// From its beginning to the last byte, or to the failure.
    public var total: Duration
    /// How many redirects were followed.
    public var redirectCount: Int
    /// The protocol: `1.1`, `2`; empty if unknown.
    public var version: String
}

extension RequestRecord {
    init(_ fetching: Fetching, _ result: Result<ResourceResponse, ResourceFailure>, _ clock: any SchedulingClock) {
        let elapsed = fetching.begun.duration(to: clock.now)
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
            byteCount = response.bytes.count
            timings = response.timings
            firstByte = response.arrivals.first.map { fetching.begun.duration(to: $0) }
            total = response.arrivals.last.map { fetching.begun.duration(to: $0) } ?? elapsed
            (redirectCount, version) = (response.redirectCount, response.version)
        case .failure(let failed):
            if case .status(let number) = failed.failure { status = number }
            failure = failed.message
            byteCount = fetching.buffer.count
            timings = failed.timings
            firstByte = fetching.buffer.arrivals.first.map { fetching.begun.duration(to: $0) }
            total = elapsed
            (redirectCount, version) = (0, "")
        }
        nameLookup = timings?.nameLookup
        connect = timings?.connect
        tls = timings?.tls
    }
}
