import Instrument
import InstrumentCompression
import InstrumentJSON
import LoopbackServers

/// A service that takes nothing that is not exactly in Sift's format, and misbehaves on command.
final class SiftService: Sendable {
    /// The service's response to a valid request.
    enum Mood: Sendable {
        /// Takes it and says 200.
        case take
        /// Takes nothing, and answers with this status and body.
        case refuse(String, String = "")
        /// Takes it, and the answer is lost.
        case takeAndReset
        /// Takes nothing, and the connection breaks.
        case reset
        /// Refuses batches that hold an event of this type.
        case refuseType(String)

        var isTooLarge: Bool {
            if case .refuse(let status, _) = self { status.hasPrefix("413") } else { false }
        }
    }

    struct Request: Sendable {
        var body: [UInt8]
        var events: [JSONValue]
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

    /// Answers by `moods`, one a request, and then by `lastMood`; calls `onRequest` with each that was in order.
    init(
        _ moods: [Mood] = [],
        then lastMood: Mood = .take,
        onRequest: @escaping @Sendable (Request) -> Void = { _ in }
    ) throws {
        let state = Lock(State(moods: moods, lastMood: lastMood))
        self.state = state
        server = try TestServer { received in
            let (steps, request) = state.withLock { Self.answer(received, &$0) }
            if let request { onRequest(request) }
            return steps
        }
    }

    var origin: String { "http://127.0.0.1:\(server.port)" }
    /// Every valid request, with any response.
    var requests: [Request] { state.withLock { $0.requests } }
    /// The accepted events, including duplicates.
    var taken: [JSONValue] { state.withLock { $0.taken } }
    /// The violations of the format.
    var complaints: [String] { state.withLock { $0.complaints } }
    /// The fields `n` of the events taken, in the order of their first arrival.
    var numbers: [String] {
        var seen: Set<String> = []
        return taken.compactMap { $0["fields"]?["n"]?.string }.filter { seen.insert($0).inserted }
    }

    private static func answer(
        _ received: TestServer.Received,
        _ state: inout State
    ) -> ([TestServer.Step], Request?) {
        do {
            let request = try SiftFormat.check(received)
            state.requests.append(request)
            // The first event is sent alone, and a single event cannot be too large.
            let isNext = state.moods.first.map { !$0.isTooLarge || request.events.count > 1 } ?? false
            let mood = isNext ? state.moods.removeFirst() : state.lastMood
            return (answer(request, mood, &state), request)
        } catch {
            state.complaints.append("\(error)")
            return ([.respond("422 Unprocessable Content")], nil)
        }
    }

    private static func answer(_ request: Request, _ mood: Mood, _ state: inout State) -> [TestServer.Step] {
        switch mood {
        case .take:
            state.taken += request.events
            return [.respond("200 OK", Array(#"{"status":0,"error_message":"OK"}"#.utf8))]
        case .refuse(let status, let body): return [.respond(status, Array(body.utf8))]
        case .takeAndReset:
            state.taken += request.events
            return [.reset]
        case .reset: return [.reset]
        case .refuseType(let type):
            if request.events.contains(where: { $0["mobile_event_type"]?.string == type }) {
                let body = #"{"status":53,"error_message":"Invalid field of acc/1 with key beacon-key"}"#
                return [.respond("400 Bad Request", Array(body.utf8))]
            }
            state.taken += request.events
            return [.respond("200 OK")]
        }
    }
}

struct Complaint: Error {
    let what: String
}

/// A second, independent definition of the format.
enum SiftFormat {
    static func check(_ received: TestServer.Received) throws -> SiftService.Request {
        try require(
            received.head.hasPrefix("PUT /v3/accounts/acc%2F1/mobile_events HTTP/1.1\r\n"),
            "request line \(received.head.prefix(60))"
        )
        // printf beacon-key | base64
        try require(received.header("Authorization") == "Basic YmVhY29uLWtleQ==", "Authorization")
        try require(received.header("Content-Type") == "application/json", "Content-Type")
        try require(received.header("Content-Encoding") == "gzip", "Content-Encoding")
        try require(received.header("Accept") == "application/json", "Accept")
        let body = try unpacked(received.body)
        guard case .object(let top) = try JSONValue(parsing: body), top.count == 1,
            case .array(let events)? = top["data"]
        else { throw Complaint(what: "the body is not {\"data\": […]}") }
        try require(!events.isEmpty, "no events")
        for event in events { try check(event) }
        return SiftService.Request(body: body, events: events)
    }

    static func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        var gunzip = Gunzip()
        var output: [UInt8] = []
        try gunzip.unpack(bytes) { output += $0 }
        try require(!gunzip.isTorn, "the gzip member is torn")
        return output
    }

    private static func check(_ event: JSONValue) throws {
        guard case .object(let members) = event, members["time"]?.int != nil else {
            throw Complaint(what: "an event without a time")
        }
        for (name, value) in members {
            switch name {
            case "time": continue
            case "mobile_event_type", "path", "user_id", "installation_id":
                try require(value.string?.isEmpty == false, "\(name) is no text, or empty")
            case "fields", "metrics", "device_properties":
                guard case .object(let map) = value else { throw Complaint(what: "\(name) is no object") }
                try require(map.values.allSatisfy { $0.string != nil }, "\(name) holds what is no text")
            case "ios_app_state", "ios_device_properties":
                guard case .object(let fields) = value else { throw Complaint(what: "\(name) is no object") }
                try require(!fields.values.contains(.null), "\(name) holds null")
            default: throw Complaint(what: "unknown member \(name)")
            }
        }
    }

    private static func require(_ condition: Bool, _ what: String) throws {
        if !condition { throw Complaint(what: what) }
    }
}
