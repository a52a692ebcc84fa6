public import Instrument
public import InstrumentHTTP
package import InstrumentManifests

/// A playlist or a manifest as it was fetched.
public struct FetchedText: Sendable {
    /// The address after redirects.
    package var url: HTTPURL
    /// The whole body.
    package var bytes: [UInt8]
    /// The instant at which the response was complete.
    package var fetched: Timestamp
    /// The value of `Content-Type`; nil without one.
    package var contentType: String?
    /// The server's clock (`Date`); nil without one.
    package var serverTime: WallTime?
    /// The address that was requested; nil if it is not known.
    package var requestedURL: HTTPURL?
    /// The elements of an MPD that are elsewhere (xlink), as far as they were loaded.
    package var remote = RemoteElements()

    /// Creates a fetched text.
    public init(
        url: HTTPURL,
        bytes: [UInt8],
        fetched: Timestamp,
        contentType: String? = nil,
        serverTime: WallTime? = nil
    ) {
        self.url = url
        self.bytes = bytes
        self.fetched = fetched
        self.contentType = contentType
        self.serverTime = serverTime
    }
}

/// The content of a playlist or manifest.
public struct TextObservation: Sendable {
    /// The format that was expected or found.
    public enum Format: Hashable, Sendable {
        /// An HLS playlist of either kind.
        case hls
        /// An MPD.
        case dash
    }

    /// The address after redirects.
    public var url: HTTPURL
    /// The instant at which the response was complete.
    public var fetched: Timestamp
    /// The format that was expected or found.
    public var format: Format
    /// The value of `Content-Type`; nil without one.
    public var contentType: String?
    /// The reason for which the text cannot be parsed; nil if it can.
    public var failure: Failure?
    /// What the parser noticed; of a text that cannot be parsed, the defects that are the reason.
    package var notices: [ManifestNotice] = []

    /// The reason for which a text cannot be parsed.
    public struct Failure: Hashable, Sendable {
        /// The parser's message, which holds no secrets.
        public var message: String
        /// The line, counted from 1.
        public var line: Int?
        /// The kind of the parser's error.
        package var code: ManifestError.Code
        /// What the body begins with.
        package var content: ManifestContent
    }
}

/// A resource that could not be fetched.
public struct FetchFailure: Sendable {
    /// The requested resource.
    public enum Kind: Hashable, Sendable {
        /// A playlist or manifest.
        case manifest
        /// A segment, an initialization segment, an index or a key.
        case segment
        /// A byte range for which the server sent other bytes.
        case range
        /// The index of a file that is no index.
        case index
        /// A key in whose place another document or a key of another size came, which the reason names.
        case key
        /// An initialization segment in whose place another document came, which the reason names.
        case initialization
    }

    /// The requested resource.
    public var kind: Kind
    /// The address.
    public var url: HTTPURL
    /// The reason: a status, a timeout, a refused redirect, a body that is too large. Holds no secrets.
    public var reason: String
    /// The error status of the response; nil without a response.
    package var status: Int?
    /// Whether the body is not in a content coding that can be read.
    package var isCoding = false
    /// Whether a server of several lacks what it must have; the address is that of the server, and the reason names the
    /// resource.
    package var isOfServer = false

    /// Creates a failure.
    public init(kind: Kind, url: HTTPURL, reason: String) {
        self.kind = kind
        self.url = url
        self.reason = reason
    }
}
