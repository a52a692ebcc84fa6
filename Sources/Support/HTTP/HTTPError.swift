/// The reason of a missing response, and the remedy. Contains no secrets and may be printed.
public struct HTTPError: Error, Hashable, Sendable {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code, as other transports do.
        public init(_ description: String) { self.description = description }

        /// It took longer than the request allows.
        public static let timedOut = Code("timedOut")
        /// The task was cancelled or the transport shut down.
        public static let cancelled = Code("cancelled")
        /// There was no connection, or it broke off.
        public static let connection = Code("connection")
        /// The host's name is unknown, or no resolver responded.
        public static let nameNotFound = Code("nameNotFound")
        /// A proxy cannot be reached, or does not connect to the server.
        public static let proxy = Code("proxy")
        /// The server's certificate or its TLS was not accepted.
        public static let tls = Code("tls")
        /// The response has more bytes than the request allows.
        public static let responseTooLarge = Code("responseTooLarge")
        /// The request has more bytes than the configuration allows; nothing was sent.
        public static let requestTooLarge = Code("requestTooLarge")
        /// The server sends the request to where it must not go.
        public static let redirectRefused = Code("redirectRefused")
        /// The host is one of a private network, which the configuration does not allow.
        public static let addressRefused = Code("addressRefused")
        /// The text is no address that can be used.
        public static let invalidURL = Code("invalidURL")
        /// A header cannot be sent.
        public static let invalidHeader = Code("invalidHeader")
        /// The received bytes are not an HTTP response.
        public static let malformedResponse = Code("malformedResponse")
        /// The body has a content coding that cannot be read, or is not in the coding that its head names.
        package static let contentCoding = Code("contentCoding")
        /// The head names a content coding that nobody registered; the body may be plain.
        package static let unknownCoding = Code("unknownCoding")
        /// The response to a request of a byte range has other bytes.
        package static let wrongRange = Code("wrongRange")
        /// The configuration cannot be used.
        public static let configuration = Code("configuration")
        /// The system said no: memory, threads, descriptors.
        public static let system = Code("system")
    }

    /// The kind of the error.
    public var code: Code
    /// The event and the remedy, for people.
    public var message: String
    /// The address without user, password, query and fragment; nil before an address is known.
    public var url: String?
    /// The status, where the head of a response had come.
    public var status: Int?
    /// The number that the library below gave (`CURLcode`, `URLError.Code`), for looking it up.
    public var underlyingCode: Int?

    /// Creates an error.
    public init(
        _ code: Code,
        _ message: String,
        url: HTTPURL? = nil,
        status: Int? = nil,
        underlyingCode: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.url = url?.description
        self.status = status
        self.underlyingCode = underlyingCode
    }

    package static func cancelled(_ url: HTTPURL) -> HTTPError {
        HTTPError(.cancelled, "the request was cancelled; whether the server has seen it is unknown", url: url)
    }

    package static func timedOut(_ url: HTTPURL, status: Int? = nil, underlyingCode: Int? = nil) -> HTTPError {
        HTTPError(
            .timedOut,
            "the server did not respond in time; retry later, or allow more time",
            url: url,
            status: status,
            underlyingCode: underlyingCode
        )
    }
}

extension HTTPError: CustomStringConvertible {
    /// The redacted address, the code and the message.
    public var description: String { (url.map { $0 + ": " } ?? "") + "\(code): \(message)" }
}
