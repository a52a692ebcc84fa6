public import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON

/// The key of a document about an agent and an activity, such as the position where a viewer stopped.
///
/// Source: xAPI 1.0.3, Communication 2.3.
public struct StateKey: Hashable, Sendable {
    /// The activity.
    package var activity: IRI
    /// The agent.
    package var agent: Statement.Agent
    /// The name of the document.
    package var id: String
    /// The attempt that the document belongs to.
    package var registration: SampleID?

    /// Creates a key; video players keep the position for resuming under the name `resume`.
    public init(activity: IRI, agent: Statement.Agent, id: String = "resume", registration: SampleID? = nil) {
        self.activity = activity
        self.agent = agent
        self.id = id
        self.registration = registration
    }

    var parameters: [(name: String, value: String)] {
        [("activityId", activity.description), ("agent", agent.json.description), ("stateId", id)]
            + (registration.map { [("registration", $0.wire)] } ?? [])
    }
}

/// A document that an LRS stores for an app.
public struct StateDocument: Hashable, Sendable {
    /// The content.
    public var content: [UInt8]
    /// The media type of the content.
    public var contentType: String
    /// The server's tag for this version of the document; nil if the server gives none.
    public var etag: String?

    /// Creates a document.
    public init(content: [UInt8], contentType: String = "application/json", etag: String? = nil) {
        self.content = content
        self.contentType = contentType
        self.etag = etag
    }
}

/// The condition for writing a document, so that two devices do not overwrite each other's changes.
public enum StateCondition: Hashable, Sendable {
    /// The document has not changed since it was read.
    case unchanged(etag: String)
    /// The document does not exist yet.
    case absent
}

extension XAPIClient {
    /// Returns the document; nil if it does not exist.
    public func state(_ key: StateKey) async throws(XAPIError) -> StateDocument? {
        let request = try request(.get, "activities/state", query: key.parameters)
        let response = try await send(request, "a state", accepting: [404])
        if response.status == 404 { return nil }
        return StateDocument(
            content: response.body,
            contentType: response.headers["Content-Type"] ?? "application/octet-stream",
            etag: response.headers["ETag"]
        )
    }

    /// Writes a document, which replaces an existing one.
    /// - Throws: ``XAPIError`` with the code `changedMeanwhile` if the condition does not hold.
    public func put(
        _ document: StateDocument,
        as key: StateKey,
        if condition: StateCondition
    ) async throws(XAPIError) {
        let request = try request(
            .put,
            "activities/state",
            query: key.parameters,
            body: document.content,
            type: document.contentType
        )
        _ = try await send(try conditional(request, condition), "a state")
    }

    private func conditional(
        _ request: HTTPRequest,
        _ condition: StateCondition
    ) throws(XAPIError) -> HTTPRequest {
        var request = request
        do throws(HTTPError) {
            switch condition {
            case .unchanged(let etag): try request.headers.add("If-Match", etag)
            case .absent: try request.headers.add("If-None-Match", "*")
            }
        } catch {
            throw XAPIError(error)
        }
        return request
    }
}
