internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// One thing to fetch.
struct ResourceRequest: Hashable, Sendable {
    var kind: ResourceKind
    var url: HTTPURL
    /// Which bytes of it; nil for all.
    var range: ByteRange?
    /// All of it, redirects included, may take this long.
    var timeout: Duration
    /// More bytes than this are not taken.
    var maxBytes: Int
    /// bit/s; nil takes what there is.
    var maxBitrate: Int?
    /// The first of a playback, over a separate connection, as a visitor's is.
    var isFirst = false
}

/// The result of a request.
struct ResourceResponse: Sendable {
    /// Where it came from in the end.
    var url: HTTPURL
    var status: Int
    var contentType: String?
    var bytes: [UInt8]
    var arrivals: ArrivalLog
    var timings: HTTPTimings
    var redirectCount: Int
    var version: String
    /// What a manifest or playlist says; nil for everything else. Read before the loader gets the response, because a
    /// large one takes a while, during which playback continues and can be stopped.
    var reading: Result<ManifestReading, ManifestError>?
}

/// A manifest or playlist that was read.
enum ManifestReading: Sendable {
    case presentation(Presentation)
    case playlist(HLSPlaylist)
}

/// Why a request failed.
struct ResourceFailure: Error, Hashable, Sendable {
    var failure: RetryPolicy.Failure
    var error: HTTPError?
    /// What is wrong with a playlist that came.
    var manifest: ManifestError?
    /// Whether what came is not what it should be.
    var isWrongContent = false
    var timings: HTTPTimings?
    /// For people, without secrets.
    var message: String
    /// What trying again would not change: a bad certificate, an address that is refused.
    var isFinal = false
}

extension ResourceFailure {
    /// One of the player's own limits.
    static let tooLate = ResourceFailure(
        failure: .timeout,
        message: "the server did not answer within the time limit; check the server, or raise the limit"
    )
    /// The player wants something else by now.
    static let notWanted = ResourceFailure(
        failure: .connection,
        message: "the player cancelled the request because it no longer needs the resource"
    )
}

/// Brings resources, from the network or from a network that a test makes up.
protocol ResourceFetcher: Sendable {
    /// Begins to fetch; returns at once. Bytes go into `buffer` as they come, and `progress` is called (often, on a
    /// thread that it must not block). `ended` is called once, unless the fetch was cancelled before.
    func fetch(
        _ request: ResourceRequest,
        into buffer: FetchBuffer,
        progress: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
    ) -> FetchCancellation

    /// Runs long work where it delays no request; a simulated network runs the work at once.
    func offload(_ work: @escaping @Sendable () -> Void)
}

/// Ends a fetch that nobody waits for any more.
struct FetchCancellation: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func cancel() { body() }
}
