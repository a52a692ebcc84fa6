internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// A resource to fetch.
struct ResourceRequest: Hashable, Sendable {
    var kind: ResourceKind
    var url: HTTPURL
    var method: HTTPMethod = .get
    /// The body; empty for none.
    var body: [UInt8] = []
    /// The requested bytes; nil for all.
    var range: ByteRange?
    /// The content codings that the request asks for.
    var decoding = ContentDecoding.unasked
    /// The time limit, including redirects.
    var timeout: Duration
    /// The largest number of bytes.
    var maxBytes: Int
    /// The bandwidth limit, bit/s; nil for none.
    var maxBitrate: Int?
    /// Whether the request is the first one of a playback, which needs a new connection, like that of a new viewer.
    var isFirst = false
    /// The report about the playback; nil for none.
    var report: ReportedRequest?
}

/// The result of a request.
struct ResourceResponse: Sendable {
    /// The address after redirects.
    var url: HTTPURL
    var status: Int
    var contentType: String?
    var body: FetchedBytes
    var arrivals: ArrivalLog
    var timings: HTTPTimings
    var redirectCount: Int
    var version: String
    /// The size of the body as the server sent it, if it had a content coding.
    var encodedByteCount: Int?
    /// The network address of the server; nil if the transport does not know it.
    var serverAddress: String?
    /// The header field `Date`, for a request of the server's time; nil without one.
    var date: WallTime?
    /// How long a browser's cache uses an initialization section again; zero for any other resource.
    var freshness: Duration = .zero
    /// The parsed manifest or playlist; nil for any other resource. Parsed before the loader receives the response,
    /// because a large one takes time, during which playback continues and can be stopped.
    var reading: Result<ManifestReading, ManifestError>?

    /// The body as an array, which is a copy if it is large.
    var bytes: [UInt8] { body.array }
}

/// A parsed manifest or playlist.
enum ManifestReading: Sendable {
    case presentation(Presentation)
    /// An MPD whose elements at these addresses have to be loaded first.
    case incomplete([HTTPURL])
    case playlist(HLSPlaylist)
    case steering(SteeringManifest)
    /// The MPD that waited for the server's time, and the nanoseconds by which the server's clock is ahead.
    case synchronized(Presentation, clockOffset: Int64)
}

/// The reason of a failed request.
struct ResourceFailure: Error, Hashable, Sendable {
    var failure: RetryPolicy.Failure
    var error: HTTPError?
    /// The defect of a received playlist.
    var manifest: ManifestError?
    /// Whether the resource has another content than expected.
    var isWrongContent = false
    var timings: HTTPTimings?
    /// The message for people, without secrets.
    var message: String
    /// Whether a retry cannot help, for example after a bad certificate or a refused address.
    var isFinal = false
    /// Whether the player cancelled the request because it no longer needs the resource.
    var isUnwanted = false
}

extension ResourceFailure {
    /// A limit of the player was exceeded.
    static let tooLate = ResourceFailure(
        failure: .timeout,
        message: "the server did not answer within the time limit; check the server, or raise the limit"
    )
    /// The player has cancelled the request.
    static let notWanted = ResourceFailure(
        failure: .connection,
        message: "the player cancelled the request because it no longer needs the resource",
        isUnwanted: true
    )
}

/// Fetches resources, from the network or from a simulated network.
protocol ResourceFetcher: Sendable {
    /// Starts a fetch and returns at once. Appends arriving bytes to `buffer`, and calls `progress` (often, on a thread
    /// that `progress` must not block). Calls `ended` once, unless the fetch was cancelled before.
    func fetch(
        _ request: ResourceRequest,
        into buffer: FetchBuffer,
        progress: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
    ) -> FetchCancellation

    /// Runs long work where it delays no request; a simulated network runs the work at once.
    func offload(_ work: @escaping @Sendable () -> Void)
}

/// Cancels a fetch.
struct FetchCancellation: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func cancel() { body() }
}
