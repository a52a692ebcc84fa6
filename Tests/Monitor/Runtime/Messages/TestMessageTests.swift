import Foundation
import Instrument
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

@Suite("watch --test-message", .ownThread)
struct TestMessageTests {
    private func run(_ receiver: String, _ notify: String, _ environment: [String: String] = [:]) async throws
        -> CommandResult
    {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let file = try scratch.write(
            "streams: [{ name: a, url: \"http://example.org/a.m3u8\" }]\nnotify:\n  \(notify)\n",
            "m.yaml"
        )
        return try await command(
            [siblingProgram("player-monitor"), "watch", "--test-message", receiver, file],
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }
        )
    }

    @Test("The command says what the service answered, and hides the secret address")
    func slack() async throws {
        let server = try ServiceStub.slack.serve()
        let notify = "chat: { slack: { env: SLACK_URL } }"
        let sent = try await run("chat", notify, ["SLACK_URL": server.url("/services/T0/B0/hush")])
        #expect(sent.status == 0, "\(sent)")
        #expect(sent.output == "chat (slack) has accepted the message; the service answered: HTTP 200: ok\n")
        let archived = try await run("chat", notify, ["SLACK_URL": server.url("/services/archived")])
        #expect(archived.status == 1)
        #expect(archived.errors.contains("chat (slack) has not accepted the message: HTTP 410: channel_is_archived"))
        #expect(server.requests.count == 2)
    }

    @Test("A service that keeps incidents keeps none of a test")
    func pagerDuty() async throws {
        let server = try ServiceStub.pagerDuty.serve()
        let notify = "oncall: { pagerduty: { env: PD }, url: \"\(server.url("/v2/enqueue"))\" }"
        let sent = try await run("oncall", notify, ["PD": ServiceStub.key])
        #expect(sent.status == 0, "\(sent)")
        let events = try server.requests.map { try JSONValue(parsing: $0.body) }
        #expect(events.map { $0["event_action"]?.string } == ["trigger", "resolve"])
        #expect(Set(events.map { $0["dedup_key"]?.string }) == ["player-monitor-test"])
        #expect(events.first?["payload"]?["severity"]?.string == "info")
        #expect(!(sent.output + sent.errors).contains(ServiceStub.key))
    }

    @Test(
        "A receiver that the configuration does not have, or without its secret, is an error that names what there is"
    )
    func unknown() async throws {
        let unknown = try await run("ops", "chat: { slack: { env: NO_SUCH_VARIABLE } }")
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("the configuration has 'chat'"))
        let secret = try await run("chat", "chat: { slack: { env: NO_SUCH_VARIABLE } }")
        #expect(secret.status == 2)
        #expect(secret.errors.contains("set the environment variable NO_SUCH_VARIABLE"))
    }
}
