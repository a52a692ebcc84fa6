public import Instrument
public import InstrumentJSON
internal import InstrumentText
internal import InstrumentTransport

/// Which statements are asked for.
///
/// Source: xAPI 1.0.3, Communication 2.1.3.
public struct StatementQuery: Hashable, Sendable {
    /// Only those of this agent or group.
    public var agent: Statement.Actor?
    /// Only those with this verb.
    public var verb: IRI?
    /// Only those about this activity.
    public var activity: IRI?
    /// Only those of this registration.
    public var registration: SampleID?
    /// Only those stored after this time.
    public var since: WallTime?
    /// Only those stored at this time or before.
    public var until: WallTime?
    /// How many at a time; 0 and nil: as the LRS likes.
    public var limit: Int?
    /// Whether the oldest come first.
    public var isAscending: Bool

    /// Creates a question; by default for everything, the latest first.
    public init(
        agent: Statement.Actor? = nil,
        verb: IRI? = nil,
        activity: IRI? = nil,
        registration: SampleID? = nil,
        since: WallTime? = nil,
        until: WallTime? = nil,
        limit: Int? = nil,
        isAscending: Bool = false
    ) {
        self.agent = agent
        self.verb = verb
        self.activity = activity
        self.registration = registration
        self.since = since
        self.until = until
        self.limit = limit
        self.isAscending = isAscending
    }

    var parameters: [(name: String, value: String)] {
        let all: [(String, String?)] = [
            ("agent", agent?.json.description), ("verb", verb?.description), ("activity", activity?.description),
            ("registration", registration?.wire), ("since", since?.rfc3339), ("until", until?.rfc3339),
            ("limit", limit.map(String.init)), ("ascending", isAscending ? "true" : nil),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

/// Some of the statements that were asked for.
public struct StatementPage: Hashable, Sendable {
    /// The statements as the LRS has them.
    public let json: [JSONValue]
    /// Where the next ones are; nil if these were the last.
    let more: HTTPURL?
    /// The version whose rules they are read by.
    let version: XAPIVersion

    /// Whether there are more.
    public var isLast: Bool { more == nil }
    /// The statements that keep the rules.
    public var statements: [Statement] { json.compactMap { try? Statement(json: $0, version: version) } }
}

extension XAPIClient {
    /// Asks for statements; the first page.
    public func statements(_ query: StatementQuery = StatementQuery()) async throws(XAPIError) -> StatementPage {
        try await page(at: request(.get, "statements", query: query.parameters))
    }

    /// The page after that one; nil after the last. An address on another server is refused, as it would get our credentials.
    public func statements(after page: StatementPage) async throws(XAPIError) -> StatementPage? {
        guard let more = page.more else { return nil }
        let request: HTTPRequest
        do throws(HTTPError) { request = try connection.request(.get, more) } catch { throw XAPIError(error) }
        return try await self.page(at: request)
    }

    /// The statement of that identifier; nil if there is none, or if it was made void.
    public func statement(_ id: SampleID) async throws(XAPIError) -> JSONValue? {
        try await statement(id, "statementId")
    }

    /// The statement of that identifier that was made void; nil if there is none.
    public func voidedStatement(_ id: SampleID) async throws(XAPIError) -> JSONValue? {
        try await statement(id, "voidedStatementId")
    }

    /// The statement of that identifier with the data that belong to it, as far as the LRS has them; nil if there is none.
    ///
    /// Data whose sum is not the one that they came under are refused.
    public func statementWithAttachments(
        _ id: SampleID
    ) async throws(XAPIError) -> (statement: JSONValue, attachments: [AttachmentContent])? {
        let request = try request(.get, "statements", query: [("statementId", id.wire), ("attachments", "true")])
        let response = try await send(request, "a statement", accepting: [404])
        if response.status == 404 { return nil }
        let type = response.headers["Content-Type"] ?? ""
        guard let parts = MultipartParts(response.body, contentType: type)?.parts, let first = parts.first else {
            return try Self.json(response, "a statement").statement(id).map { ($0, []) }
        }
        guard let statement = (try? JSONValue(parsing: first.bytes))?.statement(id) else { return nil }
        var attachments: [AttachmentContent] = []
        for part in parts.dropFirst() {
            let content = AttachmentContent(part.bytes, contentType: part.headers["content-type"] ?? "")
            guard part.headers["x-experience-api-hash"]?.lowercased() == content.sha2 else {
                throw XAPIError(.malformedAnswer, "data of the statement are not those that they say they are")
            }
            attachments.append(content)
        }
        return (statement, attachments)
    }

    private func statement(_ id: SampleID, _ kind: String) async throws(XAPIError) -> JSONValue? {
        let request = try request(.get, "statements", query: [(kind, id.wire)])
        let response = try await send(request, "a statement", accepting: [404])
        return response.status == 404 ? nil : try Self.json(response, "a statement").statement(id)
    }

    private func page(at request: HTTPRequest) async throws(XAPIError) -> StatementPage {
        let json = try await json(of: request, "statements")
        guard let statements = json["statements"]?.elements else {
            throw XAPIError(.malformedAnswer, "the LRS's answer to a question for statements has none")
        }
        let more = json["more"]?.string ?? ""
        return StatementPage(
            json: statements,
            more: more.isEmpty ? nil : try address(of: more, from: request.url),
            version: connection.configuration.version
        )
    }

    /// `more` is relative to the server, not to the endpoint.
    private func address(of more: String, from url: HTTPURL) throws(XAPIError) -> HTTPURL {
        let target: HTTPURL
        do throws(HTTPError) { target = try url.resolving(more) } catch { throw XAPIError(error) }
        guard target.origin == url.origin else {
            throw XAPIError(.malformedAnswer, "the LRS says that more is at another server; it was not asked")
        }
        return target
    }
}
