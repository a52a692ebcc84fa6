public import Instrument
internal import InstrumentJSON
internal import InstrumentHTTP

/// Which document of an agent and an activity is meant: the place where a viewer stopped, for example.
///
/// Source: xAPI 1.0.3, Communication 2.3.
public struct StateKey: Hashable, Sendable {
    /// About what.
    public var activity: IRI
    /// Of whom.
    public var agent: Statement.Agent
    /// Its name.
    public var id: String
    /// The attempt that it belongs to.
    public var registration: SampleID?

    /// Creates a key; `resume` is where video players keep the place to go on.
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

/// A document that an LRS keeps for an app.
public struct StateDocument: Hashable, Sendable {
    /// What is in it.
    public var content: [UInt8]
    /// Of what type that is.
    public var contentType: String
    /// Which state of it this is, as the server names it; nil if it does not.
    public var etag: String?

    /// Creates a document.
    public init(content: [UInt8], contentType: String = "application/json", etag: String? = nil) {
        self.content = content
        self.contentType = contentType
        self.etag = etag
    }
}

/// On what condition a document is written, so that two devices do not overwrite each other's.
public enum StateCondition: Hashable, Sendable {
    /// It is as it was when it was read: nobody has changed it meanwhile.
    case unchanged(etag: String)
    /// There is none yet.
    case absent
    /// None.
    case always
}

extension XAPIClient {
    /// The document of that name; nil if there is none.
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

    /// Puts a document in the place of what is there.
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

    /// Deletes the document of that name; none is as good.
    public func deleteState(_ key: StateKey, if condition: StateCondition = .always) async throws(XAPIError) {
        let request = try request(.delete, "activities/state", query: key.parameters)
        _ = try await send(try conditional(request, condition), "a state", accepting: [404])
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
            case .always: break
            }
        } catch {
            throw XAPIError(error)
        }
        return request
    }
}
