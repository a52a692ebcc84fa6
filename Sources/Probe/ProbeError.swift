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
    }

    /// What went wrong.
    public let code: Code
    /// What the probe was doing.
    public let phase: Phase
    /// What was played, without credentials.
    public let source: String
    /// What happened and what to do, for people.
    public let message: String

    init(_ code: Code, _ phase: Phase, _ source: MediaSource, _ message: String) {
        self.code = code
        self.phase = phase
        self.source = source.description
        self.message = message
    }
}

extension ProbeError: CustomStringConvertible {
    /// The source and the message.
    public var description: String { "\(source): \(message)" }
}
