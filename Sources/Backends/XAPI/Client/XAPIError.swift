internal import InstrumentHTTP

/// The reason why a request to an LRS failed. It contains no secrets and may be printed.
public struct XAPIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code.
        package init(_ description: String) { self.description = description }

        /// The statements are invalid; nothing was sent.
        public static let invalid = Code("invalid")
        /// The LRS did not respond.
        public static let transport = Code("transport")
        /// The LRS refused the credentials or the access.
        public static let unauthorized = Code("unauthorized")
        /// Another statement has the identifier, or a document was written without the required condition.
        public static let conflict = Code("conflict")
        /// The document has changed since it was read; read it again.
        public static let changedMeanwhile = Code("changedMeanwhile")
        /// The LRS refused the request; a retry does not help.
        public static let refused = Code("refused")
        /// The LRS is unavailable at the moment; retry later.
        public static let unavailable = Code("unavailable")
        /// The response does not conform to the specification.
        public static let malformedAnswer = Code("malformedAnswer")
    }

    /// The kind of the error.
    public let code: Code
    /// The status of the response; nil without a response.
    public let status: Int?
    /// The error in words, for people.
    public let description: String

    /// Creates an error.
    package init(_ code: Code, status: Int? = nil, _ description: String) {
        self.code = code
        self.status = status
        self.description = description
    }

    init(_ error: HTTPError) { self.init(.transport, status: error.status, error.description) }

    /// The meaning of a status other than success.
    init(_ response: HTTPResponse, to question: String) {
        let code: Code =
            switch response.status {
            case 401, 403, 407: .unauthorized
            case 409: .conflict
            case 412: .changedMeanwhile
            case 408, 425, 429, 500...599: .unavailable
            default: .refused
            }
        self.init(code, status: response.status, "the LRS answered \(response.status) to \(question)")
    }
}
