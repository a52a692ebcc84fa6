import Foundation
import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentMonitorServer
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@Suite(
    "The monitor and a real Prometheus",
    .serialized,
    .earlyOnOwnThread,
    .enabled(
        if: Prometheus.path("prometheus") != nil,
        "SKIPPED: there is no Prometheus; scripts/install-prometheus.sh installs one"
    )
)
struct PrometheusTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The values of a query by stream, once there is one for each stream.
    private func values(of query: String, port: UInt16, count: Int) async throws -> [String: Double] {
        while true {
            let answer = try? RawClient.get("/api/v1/query?query=\(PercentCoding.encoded(query))", port: Int(port))
            if let answer, answer.status == 200, let json = try? JSONValue(parsing: answer.body),
                case .array(let results)? = json["data"]?["result"], results.count == count
            {
                var values: [String: Double] = [:]
                for result in results {
                    guard case .array(let pair)? = result["value"], let text = pair.last?.string else { continue }
                    values[result["metric"]?["stream"]?.string ?? ""] = Double(text)
                }
                return values
            }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(200)))
        }
    }

    @Test("Prometheus scrapes the monitor and stores what the monitor states")
    func scrapes() async throws {
        let hostile = "b\"\\ ü"
        var first = try stream("a", labels: ["channel": "news"])
        first.url = try HTTPURL("http://127.0.0.1:\(try TestServer.closedPort())/x.m3u8")
        let served = try await ServedMonitor([first, try stream(hostile)])
        let port = try TestServer.closedPort()
        let configuration = """
            global: { scrape_interval: 1s }
            scrape_configs:
              - job_name: player-monitor
                static_configs: [{ targets: ["127.0.0.1:\(served.server.port)"] }]
              - job_name: probe
                scrape_interval: 20s
                scrape_timeout: 20s
                metrics_path: /probe
                params: { target: [a] }
                static_configs: [{ targets: ["127.0.0.1:\(served.server.port)"] }]
            """
        try configuration.write(toFile: scratch.file("p.yml"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Prometheus.path("prometheus")))
        process.arguments = [
            "--config.file=\(scratch.file("p.yml"))", "--storage.tsdb.path=\(scratch.file("data"))",
            "--web.listen-address=127.0.0.1:\(port)",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.start()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        #expect(try await values(of: "instrument_stream_up", port: port, count: 2) == ["a": 1, hostile: 1])
        #expect(try await values(of: "instrument_stream_up{channel=\"news\"}", port: port, count: 1) == ["a": 1])
        #expect(try await values(of: "up{job=\"player-monitor\"}", port: port, count: 1).values.map { $0 } == [1])
        #expect(try await values(of: "probe_success", port: port, count: 1).values.map { $0 } == [0])
        let startups = try await values(of: "instrument_stream_startup_seconds_count", port: port, count: 2)
        #expect(startups == ["a": 1, hostile: 1])
        await served.stop()
    }
}

@Suite("The files for operators")
struct OperatorFileTests {
    private var folder: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path + "/docs/monitor/"
    }

    /// The names of metrics in a text.
    private func metrics(in text: String) -> Set<String> {
        var names: Set<String> = []
        for word in text.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) })
        where word.hasPrefix("instrument_") || word.hasPrefix("process_") {
            names.insert(String(word))
        }
        return names
    }

    @Test(
        "The alert rules and the Grafana dashboard name only metrics that the monitor has",
        arguments: [
            "alerts.rules.yml", "grafana-dashboard.json",
        ]
    )
    func names(_ file: String) throws {
        let text = try String(contentsOfFile: folder + file, encoding: .utf8)
        var drive = Drive(configuration([try stream("a")], [try alert("down", "up == 0")]))
        drive.run(for: .seconds(10))
        var facts = MonitorFacts()
        facts.process = ProcessFigures(
            residentBytes: 1,
            threads: 1,
            openFiles: 1,
            cpuSeconds: 1,
            startTime: WallTime(milliseconds: 0)
        )
        let page = String(decoding: drive.model.metrics(.prometheus, facts, at: drive.now.instant), as: UTF8.self)
        let known = Set(
            page.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
        )
        let found = metrics(in: text).map { name in
            for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) && !known.contains(name) {
                return String(name.dropLast(suffix.count))
            }
            return name
        }
        #expect(found.count > 5)
        for name in found { #expect(known.contains(name), "\(file): unknown metric \(name)") }
    }

    @Test(
        "promtool accepts the alert rules",
        .enabled(
            if: Prometheus.path("promtool") != nil,
            "SKIPPED: there is no promtool; scripts/install-prometheus.sh installs one"
        )
    )
    func rules() async throws {
        let result = try await command([
            try #require(Prometheus.path("promtool")), "check", "rules", folder + "alerts.rules.yml",
        ])
        #expect(result.status == 0, "\(result)")
    }

    @Test("The example configuration of the guide has no problem")
    func configurationFile() async throws {
        let result = try await command([siblingProgram("player-monitor"), "watch", "--check", folder + "monitor.yaml"])
        #expect(result.status == 0, "\(result)")
        #expect(result.output == "2 streams, 1 backends, 3 alerts, 1 receivers\n")
    }

    @Test("The dashboard for Grafana is JSON with a query in each panel")
    func dashboard() throws {
        let json = try JSONValue(
            parsing: try String(contentsOfFile: folder + "grafana-dashboard.json", encoding: .utf8)
        )
        guard case .array(let panels)? = json["panels"] else { return #expect(Bool(false)) }
        for panel in panels {
            guard case .array(let targets)? = panel["targets"] else { return #expect(Bool(false)) }
            #expect(targets.allSatisfy { $0["expr"]?.string?.isEmpty == false })
        }
    }
}
