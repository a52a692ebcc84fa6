import Instrument
import InstrumentJSON
import LoopbackServers

/// A clickstream service that takes nothing that is not exactly as described, and misbehaves on command.
final class ClickstreamService: Sendable {
    /// The service's response to a valid request.
    enum Mood: Sendable {
        /// Takes it and says so.
        case take
        /// Takes nothing, and answers with this status.
        case refuse(String)
        /// Takes it, and the answer is lost.
        case takeAndReset
        /// Takes nothing, and the connection breaks.
        case reset
        /// Refuses batches that hold an action of this name.
        case refuseAction(String)
    }

    struct Request: Sendable {
        var key: String
        var body: [UInt8]
        var actions: [JSONValue]
        var ids: [String] { actions.compactMap { $0["id"]?.string } }
    }

    private struct State {
        var moods: [Mood]
        var lastMood: Mood
        var requests: [Request] = []
        var taken: [JSONValue] = []
        var complaints: [String] = []
    }

    private let server: TestServer
    private let state: Lock<State>

    /// Answers by `moods`, one a request, and then by `lastMood`.
    init(_ moods: [Mood] = [], then lastMood: Mood = .take) throws {
        let state = Lock(State(moods: moods, lastMood: lastMood))
        self.state = state
        server = try TestServer { received in
            state.withLock { Self.answer(received, &$0) }
        }
    }

    var url: String { server.url("/v1/actions?source=app") }
    /// Every valid request, with any response.
    var requests: [Request] { state.withLock { $0.requests } }
    /// The accepted events, including duplicates.
    var taken: [JSONValue] { state.withLock { $0.taken } }
    /// The violations of the format.
    var complaints: [String] { state.withLock { $0.complaints } }
    /// The raw requests.
    var received: [TestServer.Received] { server.requests }
    /// The numbers `n` of the actions taken, in the order of their first arrival.
    var numbers: [Int] {
        var seen: Set<String> = []
        return taken.filter { seen.insert($0["id"]?.string ?? "").inserted }.compactMap { $0["variables"]?["n"]?.int }
    }

    private static func answer(_ received: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        do {
            let request = try check(received)
            if let known = state.requests.first(where: { $0.key == request.key }), known.body != request.body {
                throw Complaint(what: "the same key with another body")
            }
            state.requests.append(request)
            let mood = state.moods.isEmpty ? state.lastMood : state.moods.removeFirst()
            return answer(request, mood, &state)
        } catch {
            state.complaints.append("\(error)")
            return [.respond("422 Unprocessable Content")]
        }
    }

    private static func answer(_ request: Request, _ mood: Mood, _ state: inout State) -> [TestServer.Step] {
        switch mood {
        case .take:
            state.taken += request.actions
            return [.respond("202 Accepted")]
        case .refuse(let status): return [.respond(status)]
        case .takeAndReset:
            state.taken += request.actions
            return [.reset]
        case .reset: return [.reset]
        case .refuseAction(let name):
            if request.actions.contains(where: { $0["name"]?.string == name }) { return [.respond("400 Bad Request")] }
            state.taken += request.actions
            return [.respond("200 OK")]
        }
    }

    private static func check(_ received: TestServer.Received) throws -> Request {
        try require(received.head.hasPrefix("POST /v1/actions?source=app HTTP/1.1\r\n"), "request line")
        try require(received.header("Content-Type") == "application/json", "Content-Type")
        try require(received.header("User-Agent") == "Film/3.1 (test)", "User-Agent")
        try require(received.header("Content-Encoding") == nil, "Content-Encoding")
        let key = received.header("Idempotency-Key") ?? ""
        try require(key.utf8.count == 32 && key.allSatisfy(\.isHexDigit), "Idempotency-Key")
        guard case .array(let actions) = try JSONValue(parsing: received.body) else {
            throw Complaint(what: "the body is no array")
        }
        try require(!actions.isEmpty, "an empty array")
        for action in actions { try check(action) }
        return Request(key: key, body: received.body, actions: actions)
    }

    private static func check(_ action: JSONValue) throws {
        guard case .object(let members) = action, case .object? = members["variables"],
            case .object(let metadata)? = members["metadata"], case .string(let time)? = members["timestamp"],
            case .string(let id)? = members["id"], case .string? = members["name"]
        else { throw Complaint(what: "not an action: \(action)") }
        try require(members.count == 5, "members beside the five")
        try require(SampleID(id) != nil, "the id is no UUID")
        try require(time.utf8.count == 24 && time.hasSuffix("Z"), "timestamp \(time)")
        for name in metadata.keys { try require(action["variables"]?[name] == nil, "\(name) stands twice") }
    }

    private static func require(_ condition: Bool, _ what: String) throws {
        if !condition { throw Complaint(what: what) }
    }
}

struct Complaint: Error {
    let what: String
}
