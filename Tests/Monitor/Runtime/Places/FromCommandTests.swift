import Foundation
import Instrument
import InstrumentBackends
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

/// ClickHouse's HTTP interface with chDB as the engine and the tables of a fleet; ends with this object.
///
/// Unchecked: the process and its pipe never change.
private final class ClickHouseFront: @unchecked Sendable {
    private static let root = packageRoot.path
    private static let directory = ProcessInfo.processInfo.environment["SQL_DIRECTORY"] ?? root + "/.build/sql"
    static var isInstalled: Bool { FileManager.default.fileExists(atPath: directory + "/installed-chdb") }

    let port: Int
    private let process = Process()
    private let (input, output) = (Pipe.forChild(), Pipe.forChild())

    init(login: String) throws {
        process.executableURL = URL(fileURLWithPath: Self.directory + "/bin/python")
        process.arguments = [Self.root + "/scripts/clickhouse-front.py", login]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.start()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NoFront() }
        self.port = port
    }

    struct NoFront: Error {}

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Inserts samples, as a consumer of the fleet does.
    func insert(_ records: [SampleRecord], _ scratch: Scratch) async throws {
        let file = try scratch.write(String(decoding: JSONLines.encode(records), as: UTF8.self), "lines")
        let result = try await command(
            [
                "curl", "-sS", "--noproxy", "*", "--fail-with-body", "--data-binary", "@" + file,
                "http://127.0.0.1:\(port)/lines",
            ]
        )
        try #require(result.status == 0, "\(result.output) \(result.errors)")
    }
}

@Suite(
    "The samples of other monitors from a table of ClickHouse",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: ClickHouseFront.isInstalled, "SKIPPED: chDB is not installed (scripts/install-sql-engines.sh)")
)
struct FromCommandTests {
    private static let login = "reader:tell-nobody"

    private func watch(_ front: ClickHouseFront, _ more: String..., secret: String = login) throws -> RunningWatch {
        let source = "clickhouse:http://127.0.0.1:\(front.port)/?table=samples"
        let arguments = [
            "--plain", "--from", source, "--credentials-from", "CLICKHOUSE_LOGIN", "--listen", "127.0.0.1:0",
        ]
        return try RunningWatch(arguments + more, environment: ["CLICKHOUSE_LOGIN": secret])
    }

    @Test("Streams of two places are shown, and those and the position survive a restart")
    func twoPlaces() async throws {
        let (front, scratch, clock) = (try ClickHouseFront(login: Self.login), try Scratch(), SystemClock())
        let state = scratch.file("state")
        let first = try watch(front, "--since", "1h", "--state", state)
        var (oslo, paris) = (RemoteMonitor("oslo", log: 1), RemoteMonitor("paris", log: 2))
        try await front.insert(oslo.begin("news", at: clock.timestamp), scratch)
        await first.wait(for: "news (oslo) plays")
        try await front.insert(paris.fail("news", status: 503, at: clock.timestamp), scratch)
        await first.wait(for: "news (paris) is down: 503 Service Unavailable")
        let port = await first.port()
        let document = try JSONValue(parsing: RawClient.get("/api/state", port: port).body)
        #expect(document["streams"]?.elements?.map { $0["name"]?.string } == ["news (oslo)", "news (paris)"])
        #expect(document["places"]?.elements?.map { $0["name"]?.string } == ["oslo", "paris"])
        #expect(document["source"]?["caughtUp"] == true)
        first.send(SIGTERM)
        #expect(await first.waitUntilExit() == 0, "\(first.output)")
        #expect(!first.output.contains("tell-nobody"))
        let position = try JSONValue(parsing: Array(scratch.bytes("state/from.json")))
        #expect(position["position"]?["arrived"]?.int ?? 0 > 1_700_000_000)
        let second = try watch(front, "--state", state)
        let other = await second.port()
        let rows = try JSONValue(parsing: RawClient.get("/api/state", port: other).body)["streams"]?.elements
        #expect(rows?.map { $0["state"]?.string } == ["unknown", "down"])
        try await front.insert(paris.begin("news", at: clock.timestamp), scratch)
        await second.wait(for: "news (paris) plays")
        second.send(SIGTERM)
        #expect(await second.waitUntilExit() == 0, "\(second.output)")
    }

    @Test("A refused login is reported without the secret, and the monitor continues")
    func refused() async throws {
        let front = try ClickHouseFront(login: Self.login)
        let watch = try watch(front, secret: "reader:wrong-secret")
        await watch.wait(for: "cannot read clickhouse:")
        #expect(watch.output.contains("status 403"))
        #expect(!watch.output.contains("wrong-secret"))
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0)
    }

    @Test(
        "A wrong source, or an option without one, is refused with what to write",
        arguments: [
            (["--from", "mqtt:host/x"], "a source must be kafka:"),
            (["--from", "kafka:127.0.0.1:9092"], "a topic must have"),
            (["--from", "kafka:user:secret@127.0.0.1/t"], "use --credentials-from"),
            (["--from", "nats:127.0.0.1/a.*"], "a subject must have"),
            (["--from", "clickhouse:http://u:secret@127.0.0.1/"], "use --credentials-from"),
            (["--from", "clickhouse:http://127.0.0.1/?table=a;drop"], "a database and a table must have"),
            (["--from", "nats:127.0.0.1/a", "--since", "soon"], "--since must be"),
            (["--since", "10m", "m.yaml"], "--since needs --from"), ([], "a configuration is needed"),
        ]
    )
    func wrong(arguments: [String], words: String) async throws {
        let watch = try RunningWatch(arguments)
        #expect(await watch.waitUntilExit() == 2)
        #expect(watch.output.contains(words) && !watch.output.contains("secret@"), "\(watch.output)")
    }
}
