public import Instrument

/// The configuration of an origin: address, link and log.
public struct OriginConfiguration: Sendable {
    /// The clients that share a link.
    public enum LinkScope: String, Hashable, Sendable, CaseIterable {
        /// Each session has a separate link, whose time zero is the session's first request.
        case session
        /// All sessions share one link, whose time zero is the first request.
        case server
    }

    /// The address to listen on; by default the loopback address.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 takes a free port.
    public var port = 0
    /// How concurrent responses share a link.
    public var sharing = LinkSharing.fair
    /// The clients that share a link.
    public var scope = LinkScope.session
    /// The schedules of individual sessions, by session name.
    public var sessionSchedules: [String: DeliverySchedule] = [:]
    /// The time by which a byte may leave after its instant, in one piece with its neighbours. No byte leaves
    /// earlier.
    package var granularity = Duration.milliseconds(10)
    /// The largest piece, in bytes.
    package var largestPiece = 16_384
    /// The kernel's send buffer of a connection, in bytes (`SO_SNDBUF`, which Linux doubles): the origin counts its
    /// content as sent. Nil keeps the kernel's default.
    package var sendBuffer: Int? = 65_536
    /// The number of threads that serve connections.
    public var threads = 1
    /// The number of requests that ``Origin/requests`` keeps; the oldest are removed first.
    public var rememberedRequests = 100_000
    /// The clock of deliveries and live playlists.
    public var clock: any SchedulingClock = .system
    /// Receives each request when its response has ended. Called on a thread that serves connections; must return
    /// quickly.
    package var onRequest: (@Sendable (AccessRecord) -> Void)?

    /// Creates the defaults: loopback, any port, a link for each session.
    public init() {}
}

/// The reason why an origin cannot start or its media cannot be generated.
public struct OriginError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The origin cannot listen on the address or port.
        public static let cannotListen = Code("cannotListen")
        /// A folder or file to serve does not exist or cannot be read.
        public static let noSuchMedia = Code("noSuchMedia")
        /// ffmpeg is not installed or failed.
        public static let cannotMakeFixtures = Code("cannotMakeFixtures")
    }

    /// The kind of the error.
    public let code: Code
    /// The event and the remedy.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
