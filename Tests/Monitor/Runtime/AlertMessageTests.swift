import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("Messages about alerts")
struct AlertMessageTests {
    @Test(
        "A message that the queue has kept is the message that was sent, for each kind",
        arguments: AlertMessage.Kind.allCases
    )
    func roundTrip(_ kind: AlertMessage.Kind) throws {
        let message = AlertMessage.sample(kind)
        let read = try #require(AlertMessage(try JSONValue(parsing: message.json.bytes)))
        #expect(read.json == message.json)
        #expect(read.kind == kind)
        #expect(read.items == message.items)
        #expect(read.duration == .seconds(754))
    }

    @Test("A message that an earlier version has queued has an incident, a title, a severity and a duration")
    func earlier() throws {
        let text = """
            {"alert":"down","condition":"up == 0","host":"cdn.example","id":"0a","omittedStreams":2,"reason":"httpStatus",\
            "sent":"2026-01-01T00:05:00.000Z","status":"resolved","streamCount":3,"streams":[{"events":[],"labels":{},\
            "name":"a","since":"2026-01-01T00:00:00.000Z","value":null}],"version":1}
            """
        let message = try #require(AlertMessage(try JSONValue(parsing: text)))
        #expect(message.kind == .closes)
        #expect(message.id == "0a")
        #expect(message.title == "down: httpStatus")
        #expect(message.severity == .critical)
        #expect(message.duration == .seconds(300))
        #expect(message.streamCount == 3)
        #expect(message.incident.utf8.count == 32)
    }

    @Test(
        "Another version, or a value that is no message, is no message",
        arguments: [
            "{}", "[]", "null",
            "{\"version\":2,\"alert\":\"a\",\"status\":\"firing\",\"sent\":\"2026-01-01T00:00:00Z\"}",
        ]
    )
    func foreign(_ text: String) throws { #expect(try AlertMessage(JSONValue(parsing: text)) == nil) }

    @Test("The line of a message names condition, host and reason, as far as there are any")
    func line() {
        var message = AlertMessage.sample(.opens)
        (message.alert, message.condition) = ("down", "up == 0")
        message.items = Array(message.items.prefix(1))
        message.streamCount = 1
        let name = message.items[0].stream
        for (host, reason, words) in [
            ("cdn.example", "httpStatus", "; cdn.example, httpStatus"), ("cdn.example", "", "; cdn.example"),
            ("", "silence", "; silence"), ("", "", ""),
        ] {
            (message.host, message.reason) = (host, reason)
            #expect(message.line == "FIRING down: \(name) (up == 0\(words))")
        }
    }

    @Test("Messages of one incident share its identifier, and each reminder has another one")
    func identifiers() {
        let messages = AlertMessage.Kind.allCases.map { AlertMessage.sample($0) }
        #expect(Set(messages.map(\.incident)).count == 1)
        #expect(Set(messages.map(\.id)).count == messages.count)
        #expect(AlertMessage.sample(.reminds, at: 60_000).id != AlertMessage.sample(.reminds).id)
        #expect(AlertMessage.sample(.opens, at: 60_000).id == AlertMessage.sample(.opens).id)
    }

    @Test("Incidents without streams have messages with identifiers that differ, and stay the same over a restart")
    func identifiersWithoutStreams() {
        func identifier(_ incident: String, since: Int64) -> String {
            var message = AlertMessage(alert: "receiver", host: "", reason: "refused", kind: .opens)
            (message.incident, message.since) = (incident, WallTime(milliseconds: since))
            message.sent = WallTime(milliseconds: since + 90_000)
            message.seal()
            return message.id
        }
        let first = identifier("a", since: 1_000)
        #expect(Set([first, identifier("b", since: 1_000), identifier("a", since: 2_000)]).count == 3)
        #expect(first == identifier("a", since: 1_000))
    }

    @Test("A message of the model has the address without its secrets, the link and the runbook of the configuration")
    func model() throws {
        var down = try alert("down", "up == 0")
        down.severity = .warning
        down.runbook = try HTTPURL("https://wiki.example/down?page=1")
        var watched = try stream("a")
        watched.url = try HTTPURL("https://user:hush@cdn.example/live.m3u8?token=hush")
        var configuration = configuration([watched], [down])
        configuration.link = try HTTPURL("https://monitor.example/")
        var drive = Drive(configuration, ["a": .fails(after: .seconds(1), code: "httpStatus")])
        drive.run(for: .seconds(60))
        let message = try #require(drive.messages.first)
        #expect(message.items.map(\.address) == ["https://cdn.example/live.m3u8"])
        #expect(message.severity == .warning)
        #expect(message.runbook == "https://wiki.example/down?page=1")
        #expect(message.link == "https://monitor.example/#incident=\(message.incident)")
        #expect(!message.json.description.contains("hush"))
    }
}

extension AlertMessage {
    /// A message about two streams, 12 min 34 s after the incident began.
    static func sample(_ kind: Kind, at offset: Int64 = 0) -> AlertMessage {
        let since = WallTime(milliseconds: 1_767_225_600_000)
        var message = AlertMessage(alert: "down", host: "cdn-a.example", reason: "httpStatus", kind: kind)
        message.condition = "up == 0"
        message.title = "503 Service Unavailable from cdn-a.example"
        message.sent = WallTime(milliseconds: since.milliseconds + 754_000 + offset)
        (message.link, message.runbook) = ("https://monitor.example/#incident=1", "https://wiki.example/down")
        if kind == .acknowledges { (message.by, message.note) = ("Ana", "I look at it") }
        for name in ["news-hd", "sport-1"] {
            message.add(
                Item(
                    stream: name,
                    address: "https://cdn-a.example/\(name)/master.m3u8",
                    labels: ["cdn": "alpha", "channel": name],
                    value: 0,
                    since: since,
                    events: [LogEntry(time: since, kind: "error", text: "httpStatus: 503")]
                )
            )
        }
        message.seal()
        return message
    }
}
