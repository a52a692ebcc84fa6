import Foundation
import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentMonitorRuntime
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@Suite(
    "Messages to a real Alertmanager",
    .ownThread,
    .enabled(
        if: Alertmanager.path != nil,
        "SKIPPED: there is no Alertmanager; scripts/install-servers.sh installs one"
    )
)
struct AlertmanagerTests {
    @Test("Alertmanager shows what fires and no longer what is resolved, whatever the names are")
    func lifecycle() async throws {
        let server = try await Alertmanager()
        let clock = SystemClock()
        let sender = HTTPSender(AlertmanagerFormat(server.url), transport: try SystemTransport())
        var opens = AlertMessage.sample(.opens)
        #expect(await sender.send(QueuedMessage(opens)).outcome == .acknowledged)
        var alerts = try await server.alerts()
        #expect(alerts.compactMap { $0["labels"]?["stream"]?.string }.sorted() == ["news-hd", "sport-1"])
        #expect(alerts.first?["annotations"]?["runbook_url"]?.string == "https://wiki.example/down")
        #expect(alerts.first?["generatorURL"]?.string == opens.link)
        var closes = AlertMessage.sample(.closes)
        closes.ended = clock.wallTime
        #expect(await sender.send(QueuedMessage(closes)).outcome == .acknowledged)
        while case let left = try await server.alerts(), !left.isEmpty {
            try await clock.sleep(until: clock.now.advanced(by: .milliseconds(100)))
        }
        for number in 0..<UInt64(6) {
            let result = await sender.send(QueuedMessage(MessageFormatTests.hostileMessage(number, .opens)))
            #expect(result.outcome == .acknowledged, "\(result)")
        }
        alerts = try await server.alerts()
        #expect(!alerts.isEmpty)
        opens.kind = .reminds
        #expect(await sender.send(QueuedMessage(opens)).outcome == .acknowledged)
    }

    @Test("What fires is sent again, also by a monitor that restarted, and not what is resolved")
    func resending() async throws {
        let server = try await Alertmanager()
        let down = try alert("down", "up == 0")
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus")
        let streams = configuration([try stream("a"), try stream("b")], [down])
        var first = Drive(streams, ["a": failing])
        first.run(for: .seconds(60))
        let resender = MessageResender()
        resender.add("ops", HTTPSender(AlertmanagerFormat(server.url), transport: try SystemTransport()))
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(streams, ["a": failing], at: 90_000, restoring: saved)
        second.run(for: .seconds(5))
        #expect(await resender.resend(second.model, at: second.now).isEmpty)
        #expect(try await server.alerts().compactMap { $0["labels"]?["stream"]?.string } == ["a"])
        second.behaviours = [:]
        second.run(for: .seconds(900))
        #expect(second.model.book.firing(for: "ops", at: second.now).isEmpty)
        #expect(second.model.book.firing(for: "other", at: second.now).isEmpty)
    }
}

/// A process of Alertmanager without a cluster.
final class Alertmanager: Sendable {
    let url: HTTPURL
    private let port: UInt16
    private let scratch: Scratch
    private let process: Lock<Process>

    static var path: String? {
        let servers = ProcessInfo.processInfo.environment["SERVERS_DIRECTORY"] ?? packageRoot.path + "/.build/servers"
        let unpacked = servers + "/debian/usr/bin/prometheus-alertmanager"
        return FileManager.default.isExecutableFile(atPath: unpacked)
            ? unpacked : installedProgram("prometheus-alertmanager")
    }

    init() async throws {
        guard let path = Self.path else { throw NoServer(why: "there is no Alertmanager") }
        scratch = try Scratch()
        port = try TestServer.closedPort()
        url = try HTTPURL("http://127.0.0.1:\(port)")
        let file = try scratch.write("route: { receiver: none }\nreceivers: [{ name: none }]\n", "alertmanager.yml")
        let process = Process()
        // Debian's program reads its templates from /usr/share, which an unpacked package does not change: the folder
        // of the package stands there for this process alone.
        let share = URL(fileURLWithPath: path).deletingLastPathComponent().deletingLastPathComponent().path + "/share"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "unshare", "-rm", "sh", "-c", "mount --bind \"$1\" /usr/share && shift && exec \"$@\"", "sh", share, path,
            "--config.file=\(file)", "--storage.path=\(scratch.file("data"))", "--web.listen-address=127.0.0.1:\(port)",
            "--cluster.listen-address=",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.start()
        self.process = Lock(process)
        while (try? RawClient.get("/-/ready", port: Int(port)))?.status != 200 {
            guard self.process.withLock({ $0.isRunning }) else { throw NoServer(why: "Alertmanager ended") }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }

    /// What fires now.
    func alerts() async throws -> [JSONValue] {
        // A long answer comes in chunks, which the raw client does not join.
        let transport = try SystemTransport()
        let request = HTTPRequest(.get, try url.resolving("/api/v2/alerts"), maxResponseBytes: 64 << 20)
        let answer = try await transport.send(request)
        transport.shutDown()
        return try JSONValue(parsing: answer.body).list ?? []
    }
}
