public import Instrument
internal import InstrumentHTTP
public import InstrumentJSON
internal import InstrumentText

/// A query for statements.
///
/// Source: xAPI 1.0.3, Communication 2.1.3.
public struct StatementQuery: Hashable, Sendable {
    /// Selects the statements of this agent or group.
    package var agent: Statement.Actor?
    /// Selects the statements with this verb.
    package var verb: IRI?
    /// Selects the statements about this activity.
    package var activity: IRI?
    /// Selects the statements of this registration.
    package var registration: SampleID?
    /// Selects the statements that were stored after this time.
    package var since: WallTime?
    /// Selects the statements that were stored at this time or before.
    package var until: WallTime?
    /// The size of a page; with 0 and nil, the LRS decides.
    package var limit: Int?
    /// Whether the oldest statements come first.
    package var isAscending: Bool

    /// Creates a query; by default for all statements, the latest first.
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

/// A page of query results.
public struct StatementPage: Hashable, Sendable {
    /// The statements as the LRS sent them.
    public let json: [JSONValue]
    /// The address of the next page; nil for the last page.
    let more: HTTPURL?
    /// The version whose rules apply to the statements.
    let version: XAPIVersion

    /// Whether there is a next page.
    public var isLast: Bool { more == nil }
    /// The statements that are valid.
    public var statements: [Statement] { json.compactMap { try? Statement(json: $0, version: version) } }
}

extension XAPIClient {
    /// Returns the first page of a query.
    public func statements(_ query: StatementQuery = StatementQuery()) async throws(XAPIError) -> StatementPage {
        try await page(at: request(.get, "statements", query: query.parameters))
    }

    /// Returns the page after another one; nil after the last page. An address on another server is refused,
    /// because that server would receive the credentials.
    public func statements(after page: StatementPage) async throws(XAPIError) -> StatementPage? {
        guard let more = page.more else { return nil }
        let request: HTTPRequest
        do throws(HTTPError) { request = try connection.request(.get, more) } catch { throw XAPIError(error) }
        return try await self.page(at: request)
    }

    /// Returns the statement with an identifier; nil if it does not exist or was voided.
    public func statement(_ id: SampleID) async throws(XAPIError) -> JSONValue? {
        let request = try request(.get, "statements", query: [("statementId", id.wire)])
        let response = try await send(request, "a statement", accepting: [404])
        return response.status == 404 ? nil : try Self.json(response, "a statement").statement(id)
    }

    /// Returns the statement with an identifier and the attachment contents that the LRS has; nil if it does not exist.
    ///
    /// Content that does not match its checksum is refused.
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
                throw XAPIError(.malformedAnswer, "attachment content does not match its declared `sha2`")
            }
            attachments.append(content)
        }
        return (statement, attachments)
    }

    private func page(at request: HTTPRequest) async throws(XAPIError) -> StatementPage {
        let json = try await json(of: request, "statements")
        guard let statements = json["statements"]?.elements else {
            throw XAPIError(.malformedAnswer, "the LRS's response to a query must have `statements` (found none)")
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
            throw XAPIError(
                .malformedAnswer,
                "`more` must be on the server of the LRS (found another server); no request was sent"
            )
        }
        return target
    }
}
