import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentText
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitor
@testable import InstrumentMonitorRuntime

@Suite("The formats of the services that take messages", .ownThread)
struct MessageFormatTests {
    private func format(_ service: ServiceStub, _ server: TestServer, _ path: String? = nil) throws -> any MessageFormat
    {
        let url = { (usual: String) in try HTTPURL(server.url(path ?? usual)) }
        return switch service {
        case .slack: SlackFormat(try url("/services/T0/B0/X0"))
        case .teams: TeamsFormat(try url("/workflows/1?sig=hush-hush"))
        case .pagerDuty: PagerDutyFormat(try url("/v2/enqueue"), key: ServiceStub.key)
        case .opsgenie: OpsgenieFormat(try url("/"), key: ServiceStub.key)
        case .telegram: TelegramFormat(try url("/"), token: "42:" + ServiceStub.key, chat: "-1001")
        case .alertmanager: AlertmanagerFormat(try url("/prefix"))
        }
    }

    private func send(_ message: AlertMessage, _ format: any MessageFormat) async throws -> SendingResult {
        let clock = VirtualClock(wallTime: message.sent)
        return await HTTPSender(format, transport: try SystemTransport(), clock: clock).send(QueuedMessage(message))
    }

    @Test("Each service accepts each kind of message", arguments: ServiceStub.allCases)
    func accepted(_ service: ServiceStub) async throws {
        let server = try service.serve()
        for kind in AlertMessage.Kind.allCases {
            let result = try await send(.sample(kind), try format(service, server))
            #expect(result.outcome == .acknowledged, "\(kind): \(result)")
        }
        let all = server.requests.flatMap { (try? JSONValue(parsing: $0.body))?.texts ?? [] }.joined(separator: "\n")
        for part in [
            "503 Service Unavailable from cdn-a.example", "news-hd", "12 min 34 s", "https://wiki.example/down",
        ] {
            #expect(all.contains(part), "\(part)")
        }
        #expect(all.contains("cdn=alpha") || service == .alertmanager)
    }

    @Test(
        "A message with everything that can be known has the cause in a sentence, who has the incident, and the note",
        arguments: ServiceStub.allCases.filter { $0 != .pagerDuty && $0 != .alertmanager }
    )
    func wholeMessage(_ service: ServiceStub) async throws {
        var message = AlertMessage.sample(.reminds)
        message.text = "Playlist requests to cdn-a.example fail since 10:21:44 UTC; the buffer ran empty 9 s later."
        (message.by, message.note) = ("Ana", "the CDN knows")
        message.changes = [StreamChange(.monitor, "the monitor started", at: message.since)]
        let server = try service.serve()
        #expect(try await send(message, try format(service, server)).outcome == .acknowledged)
        let all = server.requests.flatMap { (try? JSONValue(parsing: $0.body))?.texts ?? [] }.joined(separator: "\n")
        for part in ["the buffer ran empty 9 s later", "Ana", "the CDN knows", "the monitor started"] {
            #expect(all.contains(part), "\(part)")
        }
        let queued = try #require(AlertMessage(message.json))
        #expect(queued.text == message.text)
    }

    @Test("Messages of one incident share the key by which a service knows it")
    func incidents() async throws {
        let kinds: [AlertMessage.Kind] = [.opens, .changes, .reminds, .acknowledges, .closes]
        let pager = try ServiceStub.pagerDuty.serve()
        for kind in kinds { _ = try await send(.sample(kind), try format(.pagerDuty, pager)) }
        let events = try pager.requests.map { try JSONValue(parsing: $0.body) }
        #expect(Set(events.map { $0["dedup_key"]?.string }) == [AlertMessage.sample(.opens).incident])
        #expect(
            events.map { $0["event_action"]?.string } == ["trigger", "trigger", "trigger", "acknowledge", "resolve"]
        )
        let genie = try ServiceStub.opsgenie.serve()
        for kind in kinds { _ = try await send(.sample(kind), try format(.opsgenie, genie)) }
        let alias = AlertMessage.sample(.opens).incident
        #expect(
            genie.requests.map(\.target) == [
                "/v2/alerts", "/v2/alerts", "/v2/alerts", "/v2/alerts/\(alias)/acknowledge?identifierType=alias",
                "/v2/alerts/\(alias)/close?identifierType=alias",
            ]
        )
        #expect(try JSONValue(parsing: genie.requests[0].body)["alias"]?.string == alias)
    }

    @Test("A severity becomes the one of the service", arguments: AlertSeverity.allCases)
    func severities(_ severity: AlertSeverity) async throws {
        var message = AlertMessage.sample(.opens)
        message.severity = severity
        let pager = try ServiceStub.pagerDuty.serve()
        _ = try await send(message, try format(.pagerDuty, pager))
        let payload = try JSONValue(parsing: try #require(pager.requests.first).body)["payload"]
        #expect(payload?["severity"]?.string == severity.rawValue)
        let genie = try ServiceStub.opsgenie.serve()
        _ = try await send(message, try format(.opsgenie, genie))
        let priority = try JSONValue(parsing: try #require(genie.requests.first).body)["priority"]?.string
        let priorities: [AlertSeverity: String] = [.critical: "P1", .warning: "P3", .info: "P5"]
        #expect(priority == priorities[severity])
    }

    /// Names, labels, addresses and causes that break formats.
    private static let hostile = [
        "<!channel>", "<!everyone|x>", "@everyone", "@here", "<@U012AB3CD>", "<https://evil.example|click>", "&lt;",
        "&",
        "*bold* _it_ ~s~ `c` ```p```", "[x](https://evil.example)", "<at>all</at>", "<b>", "</b>", "<a href=\"x\">",
        "<script>alert(1)</script>", "a\r\nBcc: evil@example.org\r\n\r\nbody", "\u{1B}[31mred\u{1B}[0m",
        "\u{7}\u{0}\u{8}",
        "\u{202E}txt.exe", "\u{200B}\u{FEFF}", "\u{2028}\u{2029}", "=?utf-8?B?QQ==?=", "{\"a\":\"b\"}", "\"quoted\"\\",
        String(repeating: "x", count: 7_000), String(repeating: "<&>", count: 2_000),
        "e" + String(repeating: "\u{301}", count: 900),
        "👩‍👩‍👧‍👦", "\u{10FFFF}", "..", "-----", "%0d%0aBcc:", "", "  ", "\u{85}next",
    ]

    /// A message with hostile text in all places; the same for the same number.
    static func hostileMessage(_ number: UInt64, _ kind: AlertMessage.Kind) -> AlertMessage {
        var generator = SplitMix64(seed: number)
        func text() -> String {
            let count = Int(generator.next() % 3) + 1
            return (0..<count).map { _ in hostile[Int(generator.next() % UInt64(hostile.count))] }.joined(
                separator: "x"
            )
        }
        var message = AlertMessage(alert: "a" + text(), host: text(), reason: text(), kind: kind)
        (message.condition, message.title) = (text(), text())
        (message.incident, message.by, message.note) = (text(), text(), text())
        (message.link, message.runbook) = ("https://m.example/#incident=" + text(), text())
        message.sent = WallTime(milliseconds: 1_767_225_900_000)
        for index in 0..<Int(generator.next() % 130) {
            message.add(
                AlertMessage.Item(
                    stream: "s\(index)" + text(),
                    address: text(),
                    // The configuration accepts no other names of labels.
                    labels: ["l\(generator.next() % 3)": text(), "cdn": text(), "severity": "x"],
                    since: WallTime(milliseconds: 1_767_225_600_000),
                    events: [LogEntry(time: message.sent, kind: text(), text: text())]
                )
            )
        }
        message.seal()
        return message
    }

    @Test(
        "No hostile name, label, address or cause becomes markup, a mention or a refused message",
        arguments: ServiceStub.allCases
    )
    func hostile(_ service: ServiceStub) async throws {
        let server = try service.serve()
        for number in 0..<UInt64(12) {
            let kind = AlertMessage.Kind.allCases[Int(number) % AlertMessage.Kind.allCases.count]
            let message = Self.hostileMessage(number, kind)
            let result = try await send(message, try format(service, server))
            #expect(result.outcome == .acknowledged, "\(number): \(result)")
        }
        for text in server.requests.flatMap({ (try? JSONValue(parsing: $0.body))?.texts ?? [] }) {
            let bad = text.unicodeScalars.first { scalar in
                scalar != "\n"
                    && [.control, .format, .lineSeparator, .paragraphSeparator].contains(
                        scalar.properties.generalCategory
                    )
            }
            #expect(bad == nil, "\(text.prefix(80))")
            if service == .slack {
                #expect(!text.contains("<!") && !text.contains("<@") && !text.contains("@everyone"))
                // Only the links of the configuration are markup.
                #expect(text.replacing("<http", with: "").contains("<") == false)
                let references = text.split(separator: "&", omittingEmptySubsequences: false).dropFirst()
                #expect(references.allSatisfy { $0.hasPrefix("amp;") || $0.hasPrefix("lt;") || $0.hasPrefix("gt;") })
            }
            if service == .teams || service == .telegram { #expect(!text.contains("@everyone")) }
        }
    }

    @Test(
        "A message about a hundred streams keeps every limit, and says how many it leaves out",
        arguments: ServiceStub.allCases
    )
    func large(_ service: ServiceStub) async throws {
        var message = AlertMessage(alert: "down", host: "h", reason: "r", kind: .opens)
        message.title = String(repeating: "cause ", count: 500)
        message.sent = WallTime(milliseconds: 1_767_225_900_000)
        for index in 0..<150 {
            let item = AlertMessage.Item(
                stream: "stream-\(index)-" + String(repeating: "n", count: 300),
                address: "https://cdn.example/" + String(repeating: "\"", count: 500),
                labels: ["n": "\(index)"],
                since: WallTime(milliseconds: 1_767_225_600_000)
            )
            message.add(item)
        }
        message.seal()
        let server = try service.serve()
        let result = try await send(message, try format(service, server))
        #expect(result.outcome == .acknowledged, "\(result)")
        let request = try #require(server.requests.first)
        let texts = try JSONValue(parsing: request.body).texts
        if service == .alertmanager { return #expect(texts.count { $0.hasPrefix("stream-") } == 100) }
        #expect(texts.contains { $0.contains(" more") && $0.contains("and ") })
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var service: ServiceStub
        var path: String
        var outcome: DeliveryOutcome
        var testDescription: String { "\(service) \(path)" }
    }

    static let refusals: [Case] = [
        Case(service: .slack, path: "/services/archived", outcome: .gone(reason: "HTTP 410: channel_is_archived")),
        Case(
            service: .slack,
            path: "/services/prohibited",
            outcome: .unauthorized(reason: "HTTP 403: action_prohibited")
        ),
        Case(service: .slack, path: "/services/limited", outcome: .retry(after: .seconds(7), reason: "HTTP 429")),
        Case(service: .slack, path: "/services/broken", outcome: .retry(after: nil, reason: "HTTP 500")),
        Case(service: .teams, path: "/limited", outcome: .retry(after: .seconds(9), reason: "HTTP 429")),
        Case(
            service: .teams,
            path: "/earlier",
            outcome: .retry(after: nil, reason: "HTTP 200, but Teams answered 429")
        ),
    ]

    @Test("The answers of a service decide whether a message is retried, refused or kept", arguments: refusals)
    func answers(_ refusal: Case) async throws {
        let server = try refusal.service.serve()
        let result = try await send(.sample(.opens), try format(refusal.service, server, refusal.path))
        #expect(result.outcome == refusal.outcome)
    }

    @Test("Telegram's wait stands in the body of its answer, and a blocked bot waits for a person")
    func telegramAnswers() async throws {
        let server = try ServiceStub.telegram.serve()
        let url = try HTTPURL(server.url())
        let limited = TelegramFormat(url, token: "42:" + ServiceStub.key, chat: "429")
        #expect(try await send(.sample(.opens), limited).outcome == .retry(after: .seconds(35), reason: "HTTP 429"))
        let blocked = TelegramFormat(url, token: "42:" + ServiceStub.key, chat: "403")
        guard case .unauthorized(let reason) = try await send(.sample(.opens), blocked).outcome else {
            return #expect(Bool(false))
        }
        #expect(reason.contains("bot was blocked by the user"))
    }

    @Test("What a service refuses becomes a dead letter with the words of the service, without the secret")
    func refused() async throws {
        let server = try ServiceStub.pagerDuty.serve()
        let short = PagerDutyFormat(try HTTPURL(server.url("/v2/enqueue")), key: "short-key-hush")
        guard case .refused(let reason) = try await send(.sample(.opens), short).outcome else {
            return #expect(Bool(false))
        }
        #expect(reason.contains("routing_key"))
        #expect(!reason.contains("hush"))
    }

    @Test(
        "No log and no error shows a secret that stands in an address, a header or a body",
        arguments: ServiceStub.allCases
    )
    func secrets(_ service: ServiceStub) async throws {
        // Repeats everything that it got, as a debugging proxy does.
        let echo = try TestServer { request in
            let text =
                request.target + " " + request.head.replacing("\r\n", with: " ")
                + String(decoding: request.body, as: UTF8.self)
            return [.respond("400 Bad Request", Array(text.utf8))]
        }
        let secrets = [ServiceStub.key, "/services/T0/B0/X0", "hush-hush"]
        let result = try await send(.sample(.opens), try format(service, echo))
        for secret in secrets { #expect(!"\(result)".contains(secret), "\(result)") }
        // Nobody listens: the error names the address.
        let dead = "http://127.0.0.1:\(try TestServer.closedPort())"
        let formats: [any MessageFormat] = [
            TelegramFormat(try HTTPURL(dead), token: "42:" + ServiceStub.key, chat: "1"),
            SlackFormat(try HTTPURL(dead + "/services/T0/B0/X0")),
        ]
        for format in formats {
            let failure = try await send(.sample(.opens), format).outcome.failure ?? ""
            for secret in secrets { #expect(!failure.contains(secret), "\(failure)") }
            #expect(failure.contains("127.0.0.1"))
        }
    }

    @Test("A redirect leads no message elsewhere", arguments: [301, 302, 307, 308])
    func redirects(_ status: Int) async throws {
        let target = try TestServer { _ in [.respond("200 OK")] }
        let place = target.url("/stolen")
        let server = try TestServer { _ in [.respond("\(status) Moved", [], "Location: \(place)")] }
        let formats: [any MessageFormat] = [
            WebhookFormat(try HTTPURL(server.url("/hook")), key: nil), try format(.slack, server),
        ]
        for format in formats {
            let outcome = try await send(.sample(.opens), format).outcome
            guard case .retry(_, let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
            #expect(reason.contains("another address"))
        }
        #expect(target.requests.isEmpty)
    }

    @Test(
        "Alerts for Alertmanager end by themselves unless they are sent again, and end at once when they are resolved"
    )
    func alertmanagerTimes() async throws {
        let server = try ServiceStub.alertmanager.serve()
        for kind in [AlertMessage.Kind.opens, .closes] {
            _ = try await send(.sample(kind), try format(.alertmanager, server))
        }
        let alerts = try server.requests.map { try JSONValue(parsing: $0.body).list ?? [] }
        #expect(alerts.map(\.count) == [2, 2])
        let ends = alerts.compactMap { $0.first?["endsAt"]?.string.flatMap { WallTime(rfc3339: $0) } }
        let sent = AlertMessage.sample(.opens).sent
        #expect(ends == [WallTime(milliseconds: sent.milliseconds + 240_000), sent])
        let labels = alerts.first?.first?["labels"]
        #expect(
            labels == [
                "alertname": "down", "stream": "news-hd", "severity": "critical", "cdn": "alpha", "channel": "news-hd",
            ]
        )
    }

    @Test("A message that another version has queued becomes a dead letter, and no message without content")
    func otherVersion() async throws {
        let server = try ServiceStub.slack.serve()
        let sender = HTTPSender(try format(.slack, server), transport: try SystemTransport())
        let result = await sender.send(QueuedMessage(id: "x", body: "{\"version\":9}"))
        #expect(result.outcome == .refused(reason: "another version of the monitor has queued the message"))
        #expect(server.requests.isEmpty)
    }
}

@Suite("Which receivers get their messages")
struct ReceiverHealthTests {
    @Test("A receiver is failing from its first failure to its next success, and refused messages are counted")
    func lifecycle() {
        let clock = VirtualClock()
        let health = ReceiverHealth(clock: clock)
        let seen = Lock<[[UndeliveredMessages]]>([])
        health.observe { failing in seen.withLock { $0.append(failing) } }
        let start = clock.wallTime
        health.note(.retry(after: nil, reason: "HTTP 500"), of: "ops")
        clock.advance(by: .seconds(60))
        health.note(.retry(after: nil, reason: "HTTP 500"), of: "ops")
        health.note(.refused(reason: "HTTP 400: no_text"), of: "ops")
        health.note(.acknowledged, of: "chat")
        var expected = UndeliveredMessages(receiver: "ops", reason: "HTTP 400: no_text", since: start)
        (expected.attempts, expected.lost) = (3, 1)
        #expect(health.failing == [expected])
        health.note(.acknowledged, of: "ops")
        #expect(health.failing.isEmpty)
        // The same reason again is no news.
        #expect(seen.withLock { $0.map(\.count) } == [0, 1, 1, 0])
        health.note(.gone(reason: "HTTP 410"), of: "ops")
        health.keep(["chat"])
        #expect(health.failing.isEmpty)
    }

    @Test("The metrics and the page's data show a receiver that does not take its messages")
    func shown() throws {
        let place = ConfigurationPlace(file: "m.yaml", line: 1, column: 1)
        var watched = configuration([try stream("a")])
        for name in ["chat", "ops"] {
            let service = AlertService.webhook(try HTTPURL("http://example.org/"), secret: nil)
            watched.receivers[name] = AlertReceiver(service: service, place: place)
        }
        var drive = Drive(watched)
        var failing = UndeliveredMessages(receiver: "ops", reason: "HTTP 400: no_text", since: drive.now.wallTime)
        (failing.attempts, failing.lost) = (2, 1)
        drive.model.note([failing])
        let bytes = MonitorMetrics(of: drive.model, MonitorFacts(), at: drive.now.instant).bytes(.init(accept: nil))
        let page = String(decoding: bytes, as: UTF8.self)
        #expect(page.contains("\ninstrument_receiver_up{receiver=\"chat\"} 1\n"))
        #expect(page.contains("\ninstrument_receiver_up{receiver=\"ops\"} 0\n"))
        #expect(page.contains("\ninstrument_receiver_lost_messages{receiver=\"ops\"} 1\n"))
        let overview = drive.documents.overview(MonitorFacts())
        #expect(overview["undelivered"] == [failing.json])
    }

    @Test("A receiver that does not take its messages is an incident, which the other receivers learn of")
    func incident() throws {
        let place = ConfigurationPlace(file: "m.yaml", line: 1, column: 1)
        var watched = configuration([try stream("a")])
        for name in ["chat", "ops"] {
            let service = AlertService.webhook(try HTTPURL("http://example.org/"), secret: nil)
            watched.receivers[name] = AlertReceiver(service: service, place: place)
        }
        var drive = Drive(watched)
        drive.run(for: .seconds(30))
        let failing = UndeliveredMessages(receiver: "ops", reason: "HTTP 503", since: drive.now.wallTime)
        drive.model.note([failing])
        // A failure that is over soon is none.
        drive.run(for: .seconds(50))
        #expect(drive.messages.isEmpty && drive.model.book.open.isEmpty)
        drive.run(for: .seconds(30))
        #expect(drive.model.book.open.map(\.title) == ["Messages to ops do not arrive"])
        // No viewer is in trouble, also in a report and after a restart.
        let saved = try #require(SavedMonitor(drive.saved.bytes))
        var later = Drive(watched, at: Int64(drive.seconds * 1_000), restoring: saved)
        for drive in [drive, later] {
            let incident = try #require(drive.model.book.open.first)
            #expect(incident.viewerMinutes(at: drive.now) == 0 && incident.streamCount == 0)
            let report = MonthReport(ReportPeriod(until: drive.now.wallTime), of: drive.model, at: drive.now)
            #expect(report.outages.count == 1 && report.viewerMinutes == 0)
        }
        // The receiver still lacks its message, until one arrives.
        #expect(later.model.undelivered.map(\.receiver) == ["ops"])
        let health = ReceiverHealth()
        health.restore(later.model.undelivered)
        later.model.note(health.failing)
        later.run(for: .seconds(300))
        #expect(later.model.book.open.count == 1 && later.messages.isEmpty)
        health.note(.acknowledged, of: "ops")
        later.model.note(health.failing)
        later.run(for: .seconds(60))
        #expect(later.model.book.open.isEmpty && later.messages.map(\.kind) == [.closes])
        #expect(drive.messages.first.map { MessageContent($0).facts.contains { $0.name == "Streams" } } == false)
        #expect(drive.messages.map(\.receivers) == [["chat"]])
        // Somebody closes it: it does not come again while the failure lasts.
        let id = try #require(drive.model.book.open.first?.id)
        _ = drive.model.act(.close(id: id), by: "Ana", at: drive.now)
        drive.run(for: .seconds(60))
        #expect(drive.model.book.open.isEmpty)
        drive.model.note([])
        drive.run(for: .seconds(60))
        var lost = failing
        lost.lost = 1
        drive.model.note([lost])
        drive.run(for: .seconds(20))
        #expect(drive.model.book.open.count == 1)
        drive.model.note([])
        drive.run(for: .seconds(30))
        #expect(drive.model.book.open.isEmpty && drive.messages.last?.kind == .closes)
    }
}
