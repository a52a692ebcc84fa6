public import Instrument
public import InstrumentHTTP
internal import InstrumentJSON

/// A client of an LRS: sends and voids statements, runs queries, and stores documents.
///
/// Every call sends one request and does not retry; ``XAPIError`` tells whether a retry can help. Safe from any task.
///
/// Source: xAPI 1.0.3, Communication; IEEE 9274.1.1-2023.
public struct XAPIClient: Sendable {
    let connection: LRSConnection

    /// Creates a client, which ignores the name and the policy of the configuration.
    public init(_ configuration: XAPIConfiguration, transport: any HTTPTransport) {
        connection = LRSConnection(configuration: configuration, transport: transport)
    }

    /// The description that an LRS gives of itself.
    package struct About: Hashable, Sendable {
        /// The versions of xAPI that the LRS supports.
        package let versions: [String]
        /// Additional keys.
        package let extensions: Extensions
    }

    /// Returns the LRS's description; most LRSs require no credentials for it.
    package func about() async throws(XAPIError) -> About {
        let json = try await json(of: request(.get, "about"), "'about'")
        guard let versions = json["version"]?.elements else {
            throw XAPIError(.malformedAnswer, "the LRS's response must list its versions (found none)")
        }
        return About(versions: versions.compactMap(\.string), extensions: json["extensions"]?.extensions ?? [:])
    }

    /// Sends statements with their attachment contents, and returns the identifiers in the response.
    ///
    /// All statements are validated before the request is sent. The LRS stores all of them or none.
    @discardableResult
    public func store(
        _ statements: [Statement],
        attachments: [AttachmentContent] = []
    ) async throws(XAPIError) -> [SampleID] {
        if statements.isEmpty { return [] }
        for statement in statements { try check(statement) }
        let body = JSONValue.array(statements.map(\.json)).bytes
        let multipart = attachments.isEmpty ? nil : MultipartMixed(statements: body, attachments)
        let type = multipart?.contentType ?? "application/json"
        let request = try request(.post, "statements", body: multipart?.body ?? body, type: type)
        let response = try await send(request, "statements")
        if response.status == 204 { return statements.compactMap(\.id) }
        return ((try? JSONValue(parsing: response.body))?.elements ?? []).compactMap(\.id)
    }

    /// Sends one statement under its identifier.
    public func put(_ statement: Statement) async throws(XAPIError) {
        guard let id = statement.id else {
            throw XAPIError(.invalid, "the statement must have an identifier; set `id`")
        }
        try check(statement)
        let query = [(name: "statementId", value: id.wire)]
        let request = try request(
            .put,
            "statements",
            query: query,
            body: statement.json.bytes,
            type: "application/json"
        )
        _ = try await send(request, "a statement")
    }

    /// Voids a statement. A voiding statement cannot be voided.
    ///
    /// Source: xAPI 1.0.3, Data 2.3.2.
    public func void(
        _ id: SampleID,
        by actor: Statement.Actor,
        as voiding: SampleID,
        at time: WallTime
    ) async throws(XAPIError) {
        var statement = Statement.voiding(id, by: actor)
        (statement.id, statement.timestamp) = (voiding, time)
        try await store([statement])
    }

    private func check(_ statement: Statement) throws(XAPIError) {
        let failures = statement.failures(version: connection.configuration.version)
        guard failures.isEmpty else {
            throw XAPIError(
                .invalid,
                "the statement is invalid: " + failures.map(\.description).joined(separator: "; ")
            )
        }
    }
}

extension XAPIClient {
    func request(
        _ method: HTTPMethod,
        _ resource: String,
        query: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        type: String? = nil
    ) throws(XAPIError) -> HTTPRequest {
        do throws(HTTPError) {
            return try connection.request(method, resource, query: query, body: body, type: type)
        } catch {
            throw XAPIError(error)
        }
    }

    /// Returns the response if its status is a success or one of `accepted`.
    func send(
        _ request: HTTPRequest,
        _ question: String,
        accepting accepted: Set<Int> = []
    ) async throws(XAPIError) -> HTTPResponse {
        let response: HTTPResponse
        do throws(HTTPError) { response = try await connection.transport.send(request) } catch {
            throw XAPIError(error)
        }
        if 200...299 ~= response.status || accepted.contains(response.status) { return response }
        throw XAPIError(response, to: question)
    }

    func json(of request: HTTPRequest, _ question: String) async throws(XAPIError) -> JSONValue {
        try Self.json(try await send(request, question), question)
    }

    static func json(_ response: HTTPResponse, _ question: String) throws(XAPIError) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: response.body) } catch {
            throw XAPIError(
                .malformedAnswer,
                status: response.status,
                "the LRS's answer to \(question) is not JSON (\(error.code) at byte \(error.offset))"
            )
        }
    }
}
