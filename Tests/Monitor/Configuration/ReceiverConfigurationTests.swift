import InstrumentBackendKinds
import InstrumentHTTP
import InstrumentText
import InstrumentWatch
import Testing

@Suite("The receivers in the configuration of watch")
struct ReceiverConfigurationTests {
    private func read(_ notify: String, _ more: String = "") throws(ConfigurationError) -> WatchConfiguration {
        let text = "streams: []\nnotify:\n  r: \(notify)\n\(more)"
        return try WatchConfiguration(contentsOf: "m.yaml", kinds: .forms, files: MemoryFiles(files: ["m.yaml": text]))
    }

    private func problems(_ notify: String, _ more: String = "") -> [String] {
        do throws(ConfigurationError) {
            _ = try read(notify, more)
            return []
        } catch {
            return error.problems.map(\.message)
        }
    }

    @Test(
        "Each service is read with its settings",
        arguments: [
            ("{ webhook: \"https://h.example/a\" }", "webhook"), ("{ slack: { env: S } }", "slack"),
            ("{ slack: \"https://hooks.example/services/x\" }", "slack"), ("{ teams: { file: /etc/teams } }", "teams"),
            ("{ pagerduty: { env: P } }", "pagerduty"),
            ("{ pagerduty: { env: P }, url: \"https://events.eu.example/v2/enqueue\" }", "pagerduty"),
            ("{ opsgenie: { env: O }, url: \"https://api.eu.example\" }", "opsgenie"),
            ("{ telegram: { env: T }, chat: -1001234567890, topic: 7 }", "telegram"),
            ("{ telegram: { env: T }, chat: \"@status\" }", "telegram"),
            ("{ alertmanager: \"http://127.0.0.1:9093\", token: { env: A } }", "alertmanager"),
            ("{ email: ops@example.org, from: m@example.org, server: \"smtps://mail.example\" }", "email"),
        ]
    )
    func services(_ notify: String, _ key: String) throws {
        #expect(try read(notify).receivers["r"]?.service.key == key)
    }

    @Test(
        "A mail server has the port of its kind of encryption, and demands TLS unless the configuration says otherwise"
    )
    func mail() throws {
        func settings(_ server: String, _ more: String = "") throws -> MailSettings? {
            let text =
                "{ email: [\"Ops <ops@example.org>\", b@example.org], from: m@example.org, server: \"\(server)\"\(more) }"
            guard case .email(let settings)? = try read(text).receivers["r"]?.service else { return nil }
            return settings
        }
        let implicit = try #require(try settings("smtps://mail.example"))
        #expect(implicit.server.description == "mail.example:465" && implicit.encryption == .implicit)
        #expect(implicit.recipients.map(\.address) == ["ops@example.org", "b@example.org"])
        let usual = try #require(try settings("mail.example", ", user: u, password: { env: P }, ca: /etc/ca.pem"))
        #expect(usual.server.description == "mail.example:587" && usual.encryption == .startTLS)
        #expect(usual.user == "u" && usual.password == .environment("P") && usual.authorities == "/etc/ca.pem")
        let local = try #require(try settings("smtp://127.0.0.1:25", ", tls: none"))
        #expect(local.server.description == "127.0.0.1:25" && local.encryption == MailSettings.Encryption.none)
    }

    @Test(
        "A mistake in a receiver is reported with what to write",
        arguments: [
            ("{ slak: x }", "must have exactly one service (found none). Did you mean `slack`?"),
            ("{ slack: { env: A }, teams: { env: B } }", "must have exactly one service (found `slack` and `teams`)."),
            ("[]", "must be a mapping (found a list)."),
            ("{ slack: ftp://x }", "`slack` must be an http or https URL."),
            ("{ pagerduty: 0123456789abcdef }", "`pagerduty` must name its source and not contain the secret"),
            ("{ pagerduty: { env: A }, chat: 5 }", "Unknown key `chat`."),
            ("{ telegram: { env: T } }", "`telegram` must have a `chat` beside it"),
            ("{ telegram: { env: T }, chat: \"@a b\" }", "`chat` must be the number of a chat"),
            (
                "{ alertmanager: \"http://h/\", token: { env: A }, credentials: { env: B } }",
                "must have `credentials` or `token` beside it, not both"
            ),
            ("{ email: ops, from: m@example.org, server: h }", "`email` must be an address such as `ops@example.org`"),
            ("{ email: [], from: m@example.org, server: h }", "`email` must have 1 to 50 addresses (found 0)."),
            ("{ email: a@example.org, server: h }", "`email` must have `from` beside it."),
            (
                "{ email: a@example.org, from: m@example.org, server: \"smtp://u:p@h\" }",
                "`server` must be `smtp://HOST:PORT`"
            ),
            (
                "{ email: a@example.org, from: m@example.org, server: h, user: u }",
                "`user` and `password` must stand together"
            ),
            (
                "{ email: a@example.org, from: m@example.org, server: h, tls: none, user: u, password: { env: P } }",
                "A password must not be sent without TLS"
            ),
            (
                "{ email: a@example.org, from: m@example.org, server: \"smtps://h\", tls: none }",
                "`tls: none` must not stand beside `smtps://`"
            ),
        ]
    )
    func mistakes(_ notify: String, _ message: String) {
        let found = problems(notify)
        #expect(found.contains { $0.contains(message) }, "\(found)")
        #expect(!found.joined().contains("0123456789abcdef"))
    }

    @Test("An alert has a severity and a runbook, and a message the address of its incident")
    func alerts() throws {
        let configuration = try read(
            "{ webhook: \"http://h/\" }",
            """
            link: https://monitor.example/watch
            alerts:
              - { name: a, when: up == 0, to: r, severity: warning, runbook: "https://wiki.example/a?b=c" }
              - { name: b, when: up == 0, to: r }
            """
        )
        #expect(configuration.alerts.map(\.severity) == [.warning, .critical])
        #expect(configuration.alerts.map { $0.runbook?.secretText } == ["https://wiki.example/a?b=c", nil])
        #expect(configuration.address(ofIncident: "1 2") == "https://monitor.example/watch/#incident=1%202")
        #expect(WatchConfiguration().address(ofIncident: "1") == nil)
        let found = problems(
            "{ webhook: \"http://h/\" }",
            "alerts: [{ name: a, when: up == 0, to: r, severity: high }]"
        )
        #expect(found == ["`severity` must be `critical`, `warning` or `info` (found `high`)."])
    }
}
