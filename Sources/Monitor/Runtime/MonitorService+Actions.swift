internal import Instrument
internal import InstrumentJSON
internal import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// Incidents, silences and the audit log over HTTP.
extension MonitorService {
    private static let incidentPrefix = "/api/incidents/"

    /// Answers a request that reads incidents; nil for another path.
    func incidents(_ request: ServerRequest) -> ServerReply? {
        let now = clock.timestamp
        switch request.path {
        case "/api/incidents":
            let model = monitor.state
            return .json([
                "incidents": MonitorDocuments(of: model, at: now).incidents, "silences": model.book.silenceDocument,
                "maintenance": model.book.maintenanceDocument(at: now.wallTime),
            ])
        case "/api/silences": return .json(["silences": monitor.state.book.silenceDocument])
        case "/api/maintenance":
            return .json(["maintenance": monitor.state.book.maintenanceDocument(at: now.wallTime)])
        case "/api/audit": return .json(["audit": monitor.state.book.auditDocument])
        default:
            guard request.path.hasPrefix(Self.incidentPrefix) else { return nil }
            let id = String(request.path.dropFirst(Self.incidentPrefix.count))
            guard let detail = MonitorDocuments(of: monitor.state, at: now).detail(ofIncident: id) else {
                return .text(404, "no incident has this identifier; list them with GET /api/incidents")
            }
            return .json(detail)
        }
    }

    /// Performs an action.
    func act(_ path: ActionPath, _ request: ServerRequest) async -> ServerReply {
        do throws(ActionBodyError) {
            let body = try ActionBody(request.body)
            let person = try body.person(request.client)
            if path == .attempt || path == .check {
                try body.check(keys: ["by"])
                return path == .check ? await check(request, by: person) : await attempt(request, by: person)
            }
            let action = try action(path, body)
            switch await monitor.act(action, by: person) {
            case .success(let id): return reply(path, id)
            case .failure(let error):
                switch error {
                case .unknownIncident, .unknownSilence, .unknownMaintenance: return .text(404, error.description)
                case .isClosed, .isNotAcknowledged, .tooManySilences: return .text(409, error.description)
                }
            }
        } catch {
            return .text(400, error.description)
        }
    }

    private func action(_ path: ActionPath, _ body: ActionBody) throws(ActionBodyError) -> IncidentAction {
        let now = clock.timestamp.wallTime
        switch path {
        case .incident(let id, .acknowledge):
            try body.check(keys: ["by", "for", "until", "note"])
            return .acknowledge(id: id, until: try body.length(at: now), note: try body.text("note"))
        case .incident(let id, .release):
            try body.check(keys: ["by", "note"])
            return .release(id: id)
        case .incident(let id, .close):
            try body.check(keys: ["by", "note"])
            return .close(id: id)
        case .silence(let id): return .unsilence(id: id)
        case .plannedWork(let id): return .endMaintenance(id: id)
        case .maintenance:
            try body.check(keys: ["by", "begin", "for", "until", "name", "matchers"])
            let delay = try body.delay(at: now)
            guard let length = try body.length(at: now, after: delay) else {
                throw ActionBodyError("`for` or `until` must state when the work ends, such as `\"for\": \"2h\"`")
            }
            let name = try body.text("name")
            if name.isEmpty { throw ActionBodyError("`name` must say what the work is, such as `\"new encoder\"`") }
            let matchers = body.has("matchers") ? try body.matchers() : []
            return .maintain(matchers, after: delay, for: length, name: name)
        case .silences, .attempt, .check:
            try body.check(keys: ["by", "for", "until", "reason", "matchers"])
            guard let length = try body.length(at: now) else {
                throw ActionBodyError("`for` or `until` must state when the silence ends, such as `\"for\": \"2h\"`")
            }
            return .silence(try body.matchers(), for: length, reason: try body.text("reason"))
        }
    }

    private func reply(_ path: ActionPath, _ id: String) -> ServerReply {
        let documents = MonitorDocuments(of: monitor.state, at: clock.timestamp)
        if case .incident = path, let detail = documents.detail(ofIncident: id) {
            return .json(detail)
        }
        return .json(["id": .string(id)])
    }
}

extension MonitorService {
    private func attempt(_ request: ServerRequest, by person: String) async -> ServerReply {
        guard let name = request.parameter("name") else { return .text(400, "give the stream as ?name=NAME") }
        let outcome = await monitor.tryNow(name, by: person)
        if let refusal = outcome.refusal { return .text(outcome == .unknown ? 404 : 503, refusal) }
        return .json(["name": .string(name), "outcome": .string(outcome.rawValue)])
    }

    private func check(_ request: ServerRequest, by person: String) async -> ServerReply {
        guard let name = request.parameter("name") else { return .text(400, "give the stream as ?name=NAME") }
        let outcome = await monitor.checkNow(name, by: person)
        let status =
            switch outcome {
            case .starts: 202
            case .unknown: 404
            case .runs, .noChecks: 409
            case .busy, .stopping: 503
            }
        if let refusal = outcome.refusal { return .text(status, refusal) }
        var reply = ServerReply.json(["name": .string(name), "outcome": .string(outcome.rawValue)])
        reply.status = status
        return reply
    }
}

extension JSONValue {
    /// The state with the role of the client that reads it.
    func stating(_ client: ServerClient?) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members["role"] = .string((client?.role ?? .read).rawValue)
        members["user"] = client.flatMap { $0.name.isEmpty ? nil : .string($0.name) }
        return .object(members)
    }
}

/// What is wrong with the body of a request.
struct ActionBodyError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The body of a request that changes something: a JSON object, or nothing.
struct ActionBody {
    private let members: [String: JSONValue]

    private static let longest = Duration.seconds(366 * 86_400)
    private static let mostMatchers = 20
    private static let mostTextBytes = 1_000

    init(_ bytes: [UInt8]) throws(ActionBodyError) {
        guard !bytes.isEmpty else {
            members = [:]
            return
        }
        guard let json = try? JSONValue(parsing: bytes), case .object(let members) = json else {
            throw ActionBodyError("the body must be a JSON object")
        }
        self.members = members
    }

    /// Refuses members with other names: a misspelt one would be ignored.
    func check(keys: [String]) throws(ActionBodyError) {
        for key in members.keys.sorted() where !keys.contains(key) {
            let list = keys.map { "`\($0)`" }.joined(separator: ", ")
            throw ActionBodyError("unknown member `\(key.prefix(40))`; expected one of \(list)")
        }
    }

    /// A text without control characters; empty if it is absent.
    func text(_ name: String) throws(ActionBodyError) -> String {
        guard let value = members[name], value != .null else { return "" }
        guard let text = value.string, text.utf8.count <= Self.mostTextBytes, ServerRequest.isPlain(text) else {
            throw ActionBodyError(
                "`\(name)` must be a text of at most \(Self.mostTextBytes) bytes without control characters"
            )
        }
        return text
    }

    /// The name of the person: that of the token or of the proxy; only a client without a name may choose one.
    func person(_ client: ServerClient?) throws(ActionBodyError) -> String {
        if let name = client?.name, !name.isEmpty { return name }
        let name = try text("by")
        if name.isEmpty { return "somebody" }
        guard ServerRequest.isPersonName(name) else {
            throw ActionBodyError("`by` must be a name of at most 100 bytes without control characters")
        }
        return name
    }

    /// Whether a member is there.
    func has(_ name: String) -> Bool { members[name].map { $0 != .null } ?? false }

    /// The time from now to `begin`; zero without one. A begin that is over is now.
    func delay(at now: WallTime) throws(ActionBodyError) -> Duration {
        guard has("begin") else { return .zero }
        guard let begin = members["begin"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            case let delay = Duration.milliseconds(begin.milliseconds.saturatingSubtract(now.milliseconds)),
            delay <= Self.longest
        else {
            throw ActionBodyError(
                "`begin` must be a time at most 366 days from now, such as `2026-12-01T16:00:00Z`"
            )
        }
        return max(.zero, delay)
    }

    /// The time that `for` or `until` state, from a delay behind now; nil without both.
    func length(at now: WallTime, after delay: Duration = .zero) throws(ActionBodyError) -> Duration? {
        let now = WallTime(milliseconds: now.milliseconds.saturatingAdd(Int64(delay.milliseconds)))
        switch (members["for"], members["until"]) {
        case (nil, nil): return nil
        case (let value?, nil):
            guard let text = value.string, let length = DurationText.duration(text), length > .zero,
                length <= Self.longest
            else { throw ActionBodyError("`for` must be a duration of at most 366 days such as `30m`, `2h` or `7d`") }
            return length
        case (nil, let value?):
            guard let time = value.string.flatMap({ WallTime(rfc3339: $0) }), time > now,
                case let length = Duration.milliseconds(time.milliseconds.saturatingSubtract(now.milliseconds)),
                length <= Self.longest
            else {
                throw ActionBodyError(
                    "`until` must be a time in the future, behind `begin`, and at most 366 days later, such as `2026-12-01T18:00:00Z`"
                )
            }
            return length
        case (.some, .some): throw ActionBodyError("`for` contradicts `until`; send one of them")
        }
    }

    func matchers() throws(ActionBodyError) -> [LabelMatcher] {
        guard case .array(let list)? = members["matchers"], (1...Self.mostMatchers).contains(list.count) else {
            throw ActionBodyError(
                "`matchers` must be a list of 1 to \(Self.mostMatchers) objects such as {\"label\": \"cdn\", \"value\": \"alpha\"}"
            )
        }
        let matchers = list.compactMap { LabelMatcher($0) }
        guard matchers.count == list.count,
            matchers.allSatisfy({ ServerRequest.isPlain($0.label) && ServerRequest.isPlain($0.value) })
        else {
            throw ActionBodyError(
                "each of `matchers` must have `label` and `value`, and perhaps `isRegex`; an expression has at most "
                    + "\(LabelPattern.mostScalars) characters, with . [ ] ( ) | * + ? and \\"
            )
        }
        return matchers
    }
}
