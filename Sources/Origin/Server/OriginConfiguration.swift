public import Instrument

/// How an origin listens and delivers.
public struct OriginConfiguration: Sendable {
    /// The clients that share a link.
    public enum LinkScope: String, Hashable, Sendable, CaseIterable {
        /// Each session has its own, whose time zero is the session's first request.
        case session
        /// There is one for all, whose time zero is the first request of all.
        case server
    }

    /// The address to listen on; by default the loopback's.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 takes one that is free.
    public var port = 0
    /// How responses under way at once share a link.
    public var sharing = LinkSharing.fair
    /// The clients that share a link.
    public var scope = LinkScope.session
    /// The schedules of single sessions, by the name of the session.
    public var sessionSchedules: [String: DeliverySchedule] = [:]
    /// No byte leaves before its instant; at most so much later, in one piece with those before and after it.
    public var granularity = Duration.milliseconds(10)
    /// The largest piece, in bytes.
    public var largestPiece = 16_384
    /// The kernel's send buffer of a connection, in bytes (`SO_SNDBUF`, which Linux doubles): what it holds has left as far
    /// as this origin knows. Nil leaves it to the kernel.
    public var sendBuffer: Int? = 65_536
    /// How many threads serve the connections.
    public var threads = 1
    /// How many requests ``Origin/requests`` remembers; the oldest are forgotten first.
    public var rememberedRequests = 100_000
    /// The clock by which media are delivered and live playlists advance.
    public var clock: any SchedulingClock = .system
    /// Is given each request when its response has ended; called on a thread that serves connections, so be short.
    public var onRequest: (@Sendable (AccessRecord) -> Void)?

    /// Creates the defaults: loopback, any port, a link for each session.
    public init() {}
}

/// Why an origin cannot be started or its media not be made.
public struct OriginError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of problem.
    public enum Code: Hashable, Sendable {
        /// The address or port cannot be listened on.
        case cannotListen
        /// A folder or file that is to be served is not there or cannot be read.
        case noSuchMedia
        /// ffmpeg is not there or failed.
        case cannotMakeFixtures
    }

    /// What kind of problem.
    public let code: Code
    /// What happened and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
