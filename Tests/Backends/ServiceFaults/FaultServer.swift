import Instrument
import InstrumentJSON
import InstrumentTestKit
import LoopbackServers

/// Accepts the requests of a service, and fails at random in every way of a server.
final class FaultServer: Sendable {
    struct State {
        var generator: SeededGenerator
        /// The accepted items, in order, including repeated ones.
        var taken: [(id: SampleID, json: JSONValue)] = []
        var stored: [String: JSONValue] = [:]
        var answers: [String: Int] = [:]
    }

    /// The mark in the text of an item that is always refused.
    static let culprit = "culprit"

    private let state: Lock<State>
    private let server: TestServer

    var address: String { server.url("") }
    var current: State { state.withLock { $0 } }

    init(_ service: Service, seed: UInt64) throws {
        let state = Lock(State(generator: SeededGenerator(seed: seed)))
        self.state = state
        server = try TestServer { request in state.withLock { Self.answer(request, service, &$0) } }
    }

    private static func answer(
        _ request: TestServer.Received,
        _ service: Service,
        _ state: inout State
    ) -> [TestServer.Step] {
        if request.head.hasPrefix("GET") { return look(request.target, state) }
        if request.target == "/oauth/access_token" { return token(&state) }
        guard let items = service.items(of: request.body) else { return [.respond("400 Bad Request")] }
        let (name, steps) = mood(items.count, hasCulprit(items), &state)
        if name == "200" || name.hasPrefix("taken") {
            let known = items.filter { state.stored[$0.id.description] != nil }
            // Now and then an LRS says that it has some of it already.
            if service == .xapi, !known.isEmpty, state.generator.next() % 2 == 0 {
                state.answers["409", default: 0] += 1
                return [.respond("409 Conflict")]
            }
            state.taken += items
            for item in items { state.stored[item.id.description] = item.json }
        }
        state.answers[name, default: 0] += 1
        return steps
    }

    private static func hasCulprit(_ items: [(id: SampleID, json: JSONValue)]) -> Bool {
        items.contains { $0.json.description.contains(culprit) }
    }

    private static func mood(_ count: Int, _ hasCulprit: Bool, _ state: inout State) -> (String, [TestServer.Step]) {
        switch state.generator.next() % 32 {
        case 0: ("500", [.respond("500 Oops")])
        case 1: ("503", [.respond("503 Busy")])
        case 2: ("429", [.respond("429 Slow down", [], "Retry-After: 2")])
        case 3: ("401", [.respond("401 Who")])
        case 4: ("reset", [.reset])
        case 5: ("hang", [.hang])
        case 6: ("half head", [.send(Array("HTTP/1.1 20".utf8)), .close])
        case 24: ("404", [.respond("404 Not Found", Array("no such place".utf8))])
        case 25: ("405", [.respond("405 Method Not Allowed", [], "Allow: GET")])
        case 26: ("302", [.respond("302 Found", [], "Location: http://127.0.0.1/sign-in")])
        case 27: ("page", [.respond("200 OK", Array("<!DOCTYPE html><title>Sign in</title>".utf8))])
        case 28: ("endless head", [.send(endlessHead), .close])
        case 7 where count > 1: ("413", [.respond("413 Too large")])
        case _ where hasCulprit: ("400", [.respond("400 Bad", Array("\u{1B}[2Jone of them\r\nis bad\n".utf8))])
        case 8: ("taken, reset", [.reset])
        case 9: ("taken, hang", [.hang])
        case 10:
            (
                "taken, half answer",
                [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".utf8)), .close]
            )
        default: ("200", [.respond("200 OK")])
        }
    }

    private static let endlessHead = Array(
        ("HTTP/1.1 200 OK\r\n" + String(repeating: "X: \(String(repeating: "y", count: 1_000))\r\n", count: 300)).utf8
    )

    private static func token(_ state: inout State) -> [TestServer.Step] {
        if state.generator.next() % 4 == 0 { return [.respond("503 Busy")] }
        return [.respond("200 OK", Array(#"{"access_token":"t","expires_in":3600}"#.utf8))]
    }

    /// An LRS is asked for a statement.
    private static func look(_ target: String, _ state: State) -> [TestServer.Step] {
        let id = target.split(separator: "=").last.map { $0.uppercased() } ?? ""
        return state.stored[id].map { [.respond("200 OK", $0.bytes)] } ?? [.respond("404 Not Found")]
    }
}
