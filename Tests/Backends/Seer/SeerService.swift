import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import InstrumentXAPI
import LoopbackServers
import Testing

@testable import InstrumentSeer

/// The service on the loopback address: gives out tokens, takes payloads, and misbehaves on command.
final class SeerService: Sendable {
    struct Request: Sendable {
        let path: String
        let body: [UInt8]
        let status: String
    }

    private struct State {
        var statuses: [String] = []
        var requests: [Request] = []
        var tokens = 0
        var tokenStatus = "200 OK"
        var isDown = false
        var expiry = 3600
        /// Payloads with this identifier of an object are refused.
        var refused: String?
    }

    private let state: Lock<State>
    let server: TestServer

    init() throws {
        let state = Lock(State())
        self.state = state
        server = try TestServer { request in state.withLock { Self.answer(request, &$0) } }
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var tokens: Int { state.withLock { $0.tokens } }
    /// The next answers.
    func answer(_ statuses: String...) { state.withLock { $0.statuses += statuses } }
    func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }
    func refuse(_ object: String?) { state.withLock { $0.refused = object } }
    func setTokens(status: String = "200 OK", expiry: Int = 3600) {
        state.withLock { ($0.tokenStatus, $0.expiry) = (status, expiry) }
    }

    /// The identifiers of the objects that have arrived, in their order.
    var arrived: [String] {
        requests.filter { $0.status == "200 OK" }.flatMap { request in
            guard let json = try? JSONValue(parsing: request.body) else { return [String]() }
            let elements: [JSONValue] =
                switch (json, json["activities"]) {
                case (.array(let elements), _), (_, .array(let elements)?): elements
                default: [json]
                }
            return elements.compactMap { $0["object"]?["id"]?.string }
        }
    }

    private static func answer(_ request: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        if state.isDown { return [.reset] }
        if request.target.hasSuffix("/oauth/access_token") { return token(request, &state) }
        var status = state.statuses.isEmpty ? "200 OK" : state.statuses.removeFirst()
        if request.header("Authorization") != "Bearer token-\(state.tokens)" { status = "401 Unauthorized" }
        if let refused = state.refused, String(decoding: request.body, as: UTF8.self).contains("\"\(refused)\"") {
            status = "400 Bad Request"
        }
        state.requests.append(Request(path: request.target, body: request.body, status: status))
        return [.respond(status)]
    }

    private static func token(_ request: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        let isRight =
            request.header("Authorization") == "Basic aWQ6dGhlLXNlY3JldA=="
            && request.body == Array("grant_type=client_credentials".utf8)
            && request.header("Content-Type") == "application/x-www-form-urlencoded"
        guard isRight, state.tokenStatus == "200 OK" else { return [.respond(isRight ? state.tokenStatus : "401 No")] }
        state.tokens += 1
        let body = #"{"access_token":"token-\#(state.tokens)","expires_in":\#(state.expiry)}"#
        return [.respond("200 OK", Array(body.utf8))]
    }

    func configuration(_ change: (inout SeerConfiguration) -> Void = { _ in }) throws -> SeerConfiguration {
        var configuration = SeerConfiguration(baseURL: try HTTPURL(server.url("/api/")))
        change(&configuration)
        return configuration
    }
}

/// The durable state of a client: a directory with store and memory.
final class Home: Sendable {
    let path = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
    deinit { for place in [path, path + "-memory"] { try? FileManager.default.removeItem(atPath: place) } }

    func store() throws -> DurableStore { try DurableStore(directory: path) { _ in } }
    var memory: FileStateStore { FileStateStore(root: path + "-memory") }
}

enum Given {
    static let credentials = SeerCredentials(clientID: "id", clientSecret: "the-secret")

    static func activity(_ id: String, filler: Int = 0) -> SeerPayload {
        .activity(
            Seer.ActivityStream(
                actor: Seer.Thing(id: "viewer"),
                verb: "watch",
                object: Seer.Thing(id: id, objectType: "video"),
                generator: Seer.Generator(appID: "app"),
                properties: filler > 0 ? ["filler": .string(String(repeating: "x", count: filler))] : [:]
            )
        )
    }

    static func instrumentation(_ id: String) -> SeerPayload {
        SeerPayload(.instrumentation, json: activity(id).json)
    }

    static func tinCan(_ id: String) -> SeerPayload {
        .tinCan(
            Seer.TinCan(
                actor: Seer.TinCan.Actor(mbox: "a@example.org"),
                verb: Seer.TinCan.Verb(id: "https://example.org/watched"),
                object: Seer.TinCan.Object(id: id, type: "https://example.org/film"),
                context: Seer.TinCan.Context(appID: "app")
            )
        )
    }
}

/// A client with its recorded responses.
final class Listener: Sendable {
    let client: SeerClient
    private let heard: Lock<[SeerResponse]>
    private let heardCounter = EventCounter()
    private let observation: SeerObservation

    init(
        _ service: SeerService,
        store: any SampleStore = InMemoryStore(),
        memory: any XAPIStateStore = InMemoryStateStore(),
        clock: any SchedulingClock = SystemClock(),
        _ change: (inout SeerConfiguration) -> Void = { _ in }
    ) throws {
        client = SeerClient(
            try service.configuration(change),
            credentials: Given.credentials,
            store: store,
            memory: memory,
            transport: try SystemTransport(),
            clock: clock
        )
        let heard = Lock<[SeerResponse]>([])
        self.heard = heard
        observation = client.observe { [heardCounter] response in
            heard.withLock { $0.append(response) }
            heardCounter.increment()
        }
    }

    /// All responses but those about tokens.
    var responses: [SeerResponse] { heard.withLock { $0 }.filter { $0.event != .tokenFetch } }
    var all: [SeerResponse] { heard.withLock { $0 } }

    func report(_ payload: SeerPayload) async -> SeerResponse {
        await heard(
            withCheckedContinuation { continuation in
                client.report(payload) { continuation.resume(returning: $0) }
            }
        )
    }

    func reportQueue() async -> SeerResponse {
        await heard(
            withCheckedContinuation { continuation in
                client.reportQueue { continuation.resume(returning: $0) }
            }
        )
    }

    /// Returns when the observer has the response, too: another thread tells it after the one that asked.
    private func heard(_ response: SeerResponse) async -> SeerResponse {
        while !Task.isCancelled {
            let count = heardCounter.count
            if all.contains(response) { break }
            await heardCounter.wait(for: count + 1)
        }
        return response
    }
}
