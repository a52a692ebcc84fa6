internal import InstrumentHTTP

/// Why an LRS did not do what it was asked, and what to do. It names no secrets and may be printed.
public struct XAPIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        /// Creates a code.
        public init(_ description: String) { self.description = description }

        /// What was to be sent breaks rules; nothing was sent.
        public static let invalid = Code("invalid")
        /// There was no answer.
        public static let transport = Code("transport")
        /// The LRS does not know us, or does not let us.
        public static let unauthorized = Code("unauthorized")
        /// Another statement has the identifier, or a document was changed without saying what it was.
        public static let conflict = Code("conflict")
        /// Somebody changed the document in the meantime: read it again.
        public static let changedMeanwhile = Code("changedMeanwhile")
        /// The LRS will not take it as it is.
        public static let refused = Code("refused")
        /// The LRS cannot, at the moment.
        public static let unavailable = Code("unavailable")
        /// The answer is not what the specification says it is.
        public static let malformedAnswer = Code("malformedAnswer")
    }

    /// What went wrong.
    public let code: Code
    /// The answer's status, if there was one.
    public let status: Int?
    /// What happened, for people.
    public let description: String

    /// Creates an error.
    public init(_ code: Code, status: Int? = nil, _ description: String) {
        self.code = code
        self.status = status
        self.description = description
    }

    init(_ error: HTTPError) { self.init(.transport, status: error.status, error.description) }

    /// What a status that is no success means.
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
