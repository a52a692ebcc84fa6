/// The reason for which media could not be played, and the remedy. Contains no credentials.
public struct ProbeError: Error, Hashable, Sendable {
    /// The kind of an error. The set is open: later versions may report further codes, and an app or a test may make
    /// its own, so a `switch` over codes needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text, which the `errorCode` attribute carries.
        public let description: String

        /// Creates a code; codes with the same text are equal.
        ///
        /// - Parameter description: a short text in lower camel case.
        package init(_ description: String) { self.description = description }

        /// The file does not exist, or the server answered 404 or 410.
        public static let notFound = Code("notFound")
        /// The path names a directory.
        public static let isDirectory = Code("isDirectory")
        /// The file is empty.
        public static let empty = Code("empty")
        /// The process may not read the file, or the file is not a regular file.
        public static let unreadable = Code("unreadable")
        /// The source is not media, or media of a format that the probe does not play.
        public static let unsupportedFormat = Code("unsupportedFormat")
        /// The source is an HLS or DASH playlist where progressive media was expected.
        public static let playlist = Code("playlist")
        /// The address has a scheme that the probe does not fetch.
        public static let unsupportedScheme = Code("unsupportedScheme")
        /// The server answered with a status other than 2xx.
        public static let httpStatus = Code("httpStatus")
        /// The connection failed.
        public static let connection = Code("connection")
        /// A proxy cannot be reached, does not connect to the server, or is of a kind that does not carry the source.
        public static let proxy = Code("proxy")
        /// A request or a read took longer than its limit.
        public static let timedOut = Code("timedOut")
        /// The data ended before its declared end.
        public static let endedEarly = Code("endedEarly")
        /// The source does not support seeking; playback continues at its earlier position.
        public static let notSeekable = Code("notSeekable")
        /// The data could not be read.
        public static let readFailed = Code("readFailed")
        /// A playlist or manifest is invalid.
        public static let invalidManifest = Code("invalidManifest")
        /// The stream needs a feature that the probe lacks, for example a DRM licence.
        public static let unsupportedStream = Code("unsupportedStream")
        /// A resource is not of the kind that the playlist declares.
        public static let wrongContent = Code("wrongContent")
        /// No browser plays the media, and the profile is that of a player in browsers.
        public static let unplayableMedia = Code("unplayableMedia")
        /// A live playlist has not changed for too long.
        public static let stalePlaylist = Code("stalePlaylist")
        /// The next segment has left the live window, and the profile's player does not return into it.
        public static let behindLiveWindow = Code("behindLiveWindow")
        /// The TLS connection failed, for example because of the server's certificate.
        public static let tls = Code("tls")
        /// A resource exceeds the probe's size limit.
        public static let tooLarge = Code("tooLarge")
        /// The probe refused an address: it is not HTTP(S), or it is private and the configuration forbids that.
        public static let refusedAddress = Code("refusedAddress")
        /// The app stopped the probe.
        public static let stopped = Code("stopped")
    }

    /// The step in which an error occurred.
    public enum Phase: String, Hashable, Sendable {
        /// Finding and opening the source.
        case open
        /// Inspecting the tracks of the source.
        case inspect
        /// Reading media.
        case read
        /// Seeking to another position.
        case seek
        /// Fetching a master playlist or an MPD.
        case manifest
        /// Fetching a media playlist.
        case playlist
        /// Fetching an initialization section.
        case initialization
        /// Fetching a key.
        case key
        /// Fetching a licence for encrypted samples.
        case licence
        /// Fetching or reading a segment.
        case segment
    }

    /// The kind of the error.
    public let code: Code
    /// The step in which the error occurred.
    public let phase: Phase
    /// The source, without credentials.
    public let source: String
    /// The message for people: the value that was found, the expected value, and the remedy.
    public let message: String
    /// The address that failed, without credentials and query; nil if no single address failed.
    public let url: String?
    /// The HTTP status of the answer; nil without an answer.
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
    /// The source, the part that failed, and the message.
    public var description: String {
        let part = url.map { $0 == source ? "" : " (\(phase.rawValue) \($0))" } ?? ""
        return "\(source)\(part): \(message)"
    }
}
