import Foundation
import Instrument
import InstrumentJSON
import InstrumentTransport
import LoopbackServers

@testable import InstrumentXAPI

/// A small LRS on the loopback address that stores statements, and fails on command.
final class LoopbackLRS: Sendable {
    /// The treatment of the next batch.
    enum Fault: Sendable {
        /// Answers so and stores nothing.
        case answer(String)
        /// Stores, and breaks the connection before it answers.
        case lostAnswer
        /// Breaks the connection.
        case reset
    }

    private struct State {
        var stored: [String: JSONValue] = [:]
        var order: [String] = []
        var voided: Set<String> = []
        var faults: [Fault] = []
        var posts: [[UInt8]] = []
        /// Whether the LRS responds with 409 as soon as it knows one identifier, for any content.
        var isStrict = false
        var refusedVerbs: Set<String> = []
    }

    private let state: Lock<State>
    let server: TestServer

    init(isStrict: Bool = false, faults: [Fault] = [], refusing verbs: Set<String> = []) throws {
        let state = Lock(State(faults: faults, isStrict: isStrict, refusedVerbs: verbs))
        self.state = state
        server = try TestServer { request in
            state.withLock { state in
                request.head.hasPrefix("POST")
                    ? Self.post(request, &state) : Self.get(request.target, state)
            }
        }
    }

    var stored: [String: JSONValue] { state.withLock { $0.stored } }
    /// Identifiers in the order in which they were stored.
    var order: [String] { state.withLock { $0.order } }
    /// The bodies of all batches.
    var posts: [[UInt8]] { state.withLock { $0.posts } }
    func fail(_ faults: Fault...) { state.withLock { $0.faults += faults } }
    func remove(_ id: SampleID) { state.withLock { $0.stored[id.wire] = nil } }
    /// Refuses batches with one of these verbs from now on.
    func refuse(_ verbs: Set<String>) { state.withLock { $0.refusedVerbs = verbs } }
    func void(_ id: SampleID) { state.withLock { _ = $0.voided.insert(id.wire) } }
    func change(_ id: SampleID, _ name: String, to value: JSONValue) {
        state.withLock { state in
            guard case .object(var members)? = state.stored[id.wire] else { return }
            members[name] = value
            state.stored[id.wire] = .object(members)
        }
    }

    func configuration(_ policy: DeliveryPolicy = DeliveryPolicy()) throws -> XAPIConfiguration {
        XAPIConfiguration(
            endpoint: try HTTPURL(server.url("/xapi")),
            credentials: .basic(user: "key", password: "the-secret"),
            policy: policy
        )
    }

    private static func post(_ request: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        state.posts.append(request.body)
        let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
        switch fault {
        case .answer(let status): return [.respond(status)]
        case .reset: return [.reset]
        case nil, .lostAnswer: break
        }
        guard let statements = elements(of: request.body) else { return [.respond("400 Bad Request")] }
        let verbs = statements.compactMap { $0["verb"]?["id"]?.string }
        if !state.refusedVerbs.isDisjoint(with: verbs) {
            return [.respond("400 Bad Request", Array("the verb is not allowed".utf8))]
        }
        let ids = statements.compactMap { $0["id"]?.string }
        let known = zip(ids, statements).filter { state.stored[$0.0] != nil }
        if known.contains(where: { state.isStrict || state.stored[$0.0] != $0.1 }) { return [.respond("409 Conflict")] }
        for (id, statement) in zip(ids, statements) where state.stored[id] == nil {
            state.stored[id] = statement
            state.order.append(id)
        }
        if case .lostAnswer = fault { return [.reset] }
        return [.respond("200 OK", JSONValue.array(ids.map(JSONValue.string)).bytes)]
    }

    private static func elements(of body: [UInt8]) -> [JSONValue]? {
        guard case .array(let elements)? = try? JSONValue(parsing: body) else { return nil }
        return elements
    }

    /// Adds the fields that an LRS adds, and keeps voided statements for queries of them.
    private static func get(_ target: String, _ state: State) -> [TestServer.Step] {
        let isVoided = target.contains("?voidedStatementId=")
        guard let id = target.split(separator: "=").last.map(String.init),
            case .object(var members)? = state.stored[id],
            state.voided.contains(id) == isVoided
        else { return [.respond("404 Not Found")] }
        members["stored"] = "2026-01-01T00:00:00.123456+00:00"
        members["version"] = "1.0.0"
        members["id"] = .string(id.uppercased())
        members["authority"] = ["objectType": "Agent", "mbox": "mailto:lrs@example.org"]
        return [.respond("200 OK", JSONValue.object(members).bytes)]
    }
}

enum Watching {
    static let viewer = Statement.Actor.agent(
        Statement.Agent(.account(homePage: "https://example.org", name: "4711"))
    )
    static let viewings = Viewings(
        viewer: viewer,
        registration: SampleID("EC531277-B57B-4C15-8D91-D292C5B2B8F7"),
        completionThreshold: 0.8
    )
    static let all = PlainMapping(viewings: viewings) { _ in true }

    static func event(_ action: Action, at seconds: Double, place: Double? = nil, player: String = "player-0") -> Event
    {
        var event = Event(
            action,
            tracker: TrackerID(0),
            time: Timestamp(
                instant: MonotonicInstant(nanoseconds: Int64(seconds * 1e9)),
                wallTime: WallTime(milliseconds: 1_700_000_000_000 + Int64(seconds * 1000))
            )
        )
        event[.senderId] = player
        event[.source] = "https://example.org/films/1.mp4?token=abc"
        event[.title] = "Film"
        event[.duration] = .seconds(100)
        event[.position] = place.map { .milliseconds(Int($0 * 1000)) }
        return event
    }

    static func record(_ number: Int, _ event: Event) -> SampleRecord {
        SampleRecord(
            id: SampleID(log: 7, sequence: UInt64(number)),
            sequence: UInt64(number),
            sample: .event(event)
        )
    }

    static func records(_ events: [Event]) -> [SampleRecord] { events.enumerated().map { record($0, $1) } }

    /// Loaded, played, paused, resumed, sought in, ended, and played once more.
    static let session: [Event] = [
        event(.streamLoad, at: 0), event(.start, at: 1, place: 0), event(.ping, at: 20, place: 19),
        event(.pauseBegin, at: 31, place: 30), event(.pauseFinish, at: 40, place: 30),
        event(.seekBegin, at: 50, place: 40), event(.seekFinish, at: 51, place: 20),
        event(.ping, at: 80, place: 49), event(.bufferBegin, at: 81, place: 50),
        event(.bufferFinish, at: 82, place: 50), event(.ping, at: 115, place: 83),
        event(.end, at: 132, place: 100), event(.streamLoad, at: 140), event(.start, at: 141, place: 0),
        event(.stop, at: 150, place: 9),
        event(.streamLoad, at: 160, player: "player-1"), event(.start, at: 161, place: 50, player: "player-1"),
        event(.pauseBegin, at: 170, place: 59, player: "player-1"),
        event(.stop, at: 171, place: 59, player: "player-1"),
    ]
}

/// A directory that is gone after the test.
final class StateDirectory: Sendable {
    let path = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
    var store: FileStateStore { FileStateStore(root: path) }
    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}
