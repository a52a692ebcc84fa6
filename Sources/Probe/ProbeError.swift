/// Why media could not be played, and what to do about it. Carries no credentials.
public struct ProbeError: Error, Hashable, Sendable {
    /// What went wrong; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        private init(_ description: String) { self.description = description }

        /// There is no such file, or the server says so (404).
        public static let notFound = Code("notFound")
        /// The path names a directory.
        public static let isDirectory = Code("isDirectory")
        /// The file holds nothing.
        public static let empty = Code("empty")
        /// The file may not be read, or is no regular file.
        public static let unreadable = Code("unreadable")
        /// It is no media, or media of a kind that the probe does not play.
        public static let unsupportedFormat = Code("unsupportedFormat")
        /// It is an HLS or DASH playlist.
        public static let playlist = Code("playlist")
        /// The address has a scheme that the probe does not fetch.
        public static let unsupportedScheme = Code("unsupportedScheme")
        /// The server answered with a status that is no success.
        public static let httpStatus = Code("httpStatus")
        /// No connection came about.
        public static let connection = Code("connection")
        /// Something took longer than its limit.
        public static let timedOut = Code("timedOut")
        /// The data broke off before its declared end.
        public static let endedEarly = Code("endedEarly")
        /// It cannot be jumped in; playback goes on where it was.
        public static let notSeekable = Code("notSeekable")
        /// The data could not be read.
        public static let readFailed = Code("readFailed")
        /// A playlist or manifest cannot be understood.
        public static let invalidManifest = Code("invalidManifest")
        /// The stream needs what the probe does not do, for example a licence.
        public static let unsupportedStream = Code("unsupportedStream")
        /// Something came that is not what the playlist said it would be.
        public static let wrongContent = Code("wrongContent")
        /// A live playlist goes on without anything new.
        public static let stalePlaylist = Code("stalePlaylist")
        /// The server's certificate or its TLS was not accepted.
        public static let tls = Code("tls")
        /// Something is larger than the probe takes.
        public static let tooLarge = Code("tooLarge")
        /// An address was refused: no HTTP, or one of a private network where that is not allowed.
        public static let refusedAddress = Code("refusedAddress")
        /// Somebody stopped the probe.
        public static let stopped = Code("stopped")
    }

    /// What the probe was doing.
    public enum Phase: String, Hashable, Sendable {
        /// Finding and opening the source.
        case open
        /// Learning what is in it.
        case inspect
        /// Reading on.
        case read
        /// Jumping to another position.
        case seek
        /// Fetching a master playlist or an MPD.
        case manifest
        /// Fetching a media playlist.
        case playlist
        /// Fetching an initialization section.
        case initialization
        /// Fetching a key.
        case key
        /// Fetching or reading a segment.
        case segment
    }

    /// What went wrong.
    public let code: Code
    /// What the probe was doing.
    public let phase: Phase
    /// What was played, without credentials.
    public let source: String
    /// What happened and what to do, for people.
    public let message: String
    /// The address that failed, without credentials and query; nil if it is the source, or none.
    public let url: String?
    /// The HTTP status that was answered; nil without one.
    public let status: Int?

    init(
        _ code: Code,
        _ phase: Phase,
        _ source: MediaSource,
        _ message: String,
        url: String? = nil,
        status: Int? = nil
    ) {
        self.code = code
        self.phase = phase
        self.source = source.description
        self.message = message
        self.url = url
        self.status = status
    }
}

extension ProbeError: CustomStringConvertible {
    /// The source, what of it failed, and the message.
    public var description: String {
        let part = url.map { $0 == source ? "" : " (\(phase.rawValue) \($0))" } ?? ""
        return "\(source)\(part): \(message)"
    }
}
