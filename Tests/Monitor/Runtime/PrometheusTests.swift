import Foundation
import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentMonitorRuntime
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
        packageRoot.path + "/docs/monitor/"
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
        let page = String(
            decoding: MonitorMetrics(of: drive.model, facts, at: drive.now.instant).bytes(.prometheus),
            as: UTF8.self
        )
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

    /// An alert of `alerts.rules.yml`: series that raise it at once or after its delay, and series that do not.
    struct AlertCase: Sendable, CustomTestStringConvertible {
        let alert: String
        let broken: [String: String]
        let good: [String: String]
        let labels: String
        var testDescription: String { alert }

        init(_ alert: String, broken: [String: String], good: [String: String], labels: String) {
            (self.alert, self.broken, self.good, self.labels) = (alert, broken, good, labels)
        }
    }

    static let alertCases = [
        AlertCase(
            "StreamDown",
            broken: ["instrument_stream_up{stream=\"a\"}": "0x60"],
            good: ["instrument_stream_up{stream=\"a\"}": "1x60"],
            labels: "stream: a, severity: page"
        ),
        AlertCase(
            "StreamStalls",
            broken: [
                "instrument_stream_rebuffer_seconds_total{stream=\"a\"}": "0+3x60",
                "instrument_stream_playing_seconds_total{stream=\"a\"}": "0+57x60",
            ],
            good: [
                "instrument_stream_rebuffer_seconds_total{stream=\"a\"}": "0+0.5x60",
                "instrument_stream_playing_seconds_total{stream=\"a\"}": "0+59.5x60",
            ],
            labels: "stream: a, severity: page"
        ),
        AlertCase(
            "StreamStartsSlowly",
            broken: [
                "instrument_stream_startup_seconds_bucket{stream=\"a\",le=\"5.0\"}": "0x60",
                "instrument_stream_startup_seconds_bucket{stream=\"a\",le=\"8.0\"}": "0+1x60",
                "instrument_stream_startup_seconds_bucket{stream=\"a\",le=\"+Inf\"}": "0+1x60",
            ],
            good: [
                "instrument_stream_startup_seconds_bucket{stream=\"a\",le=\"5.0\"}": "0+1x60",
                "instrument_stream_startup_seconds_bucket{stream=\"a\",le=\"8.0\"}": "0+1x60",
                "instrument_stream_startup_seconds_bucket{stream=\"a\",le=\"+Inf\"}": "0+1x60",
            ],
            labels: "stream: a, severity: ticket"
        ),
        AlertCase(
            "StreamRuleBroken",
            broken: ["instrument_stream_check_failed{stream=\"a\",rule=\"stale\"}": "1x60"],
            good: ["instrument_stream_check_failed{stream=\"a\",rule=\"stale\"}": "0x60"],
            labels: "stream: a, rule: stale, severity: ticket"
        ),
        AlertCase(
            "StreamRequestsFail",
            broken: [
                "instrument_stream_requests_total{stream=\"a\",kind=\"segment\",status=\"200\"}": "0+9x60",
                "instrument_stream_requests_total{stream=\"a\",kind=\"segment\",status=\"none\"}": "0+1x60",
            ],
            good: [
                "instrument_stream_requests_total{stream=\"a\",kind=\"segment\",status=\"200\"}": "0+9x60",
                "instrument_stream_requests_total{stream=\"a\",kind=\"segment\",status=\"206\"}": "0+1x60",
            ],
            labels: "stream: a, severity: ticket"
        ),
        AlertCase(
            "MonitorGone",
            broken: ["up{job=\"player-monitor\",instance=\"m\"}": "0x60", "instrument_monitor_streams": "1x60"],
            good: ["up{job=\"player-monitor\",instance=\"m\"}": "1x60", "instrument_monitor_streams": "1x60"],
            labels: "job: player-monitor, instance: m, severity: page"
        ),
        AlertCase(
            "MonitorConfigurationInvalid",
            broken: ["instrument_monitor_configuration_valid": "0x60"],
            good: ["instrument_monitor_configuration_valid": "1x60"],
            labels: "severity: ticket"
        ),
        AlertCase(
            "MonitorOverloaded",
            broken: ["instrument_monitor_delay_seconds": "2x60"],
            good: ["instrument_monitor_delay_seconds": "0.2x60"],
            labels: "severity: ticket"
        ),
        AlertCase(
            "SamplesNotDelivered",
            broken: ["instrument_backend_dropped_samples_total{backend=\"b\",reason=\"age\"}": "0+1x60"],
            good: ["instrument_backend_dropped_samples_total{backend=\"b\",reason=\"age\"}": "5x60"],
            labels: "backend: b, reason: age, severity: ticket"
        ),
        AlertCase(
            "AlertsNotDelivered",
            broken: ["instrument_receiver_up{receiver=\"ops\"}": "0x60"],
            good: ["instrument_receiver_up{receiver=\"ops\"}": "1x60"],
            labels: "receiver: ops, severity: page"
        ),
    ]

    @Test(
        "An alert rule fires for its fault and not for a good stream (promtool test rules)",
        .enabled(
            if: Prometheus.path("promtool") != nil,
            "SKIPPED: there is no promtool; scripts/install-prometheus.sh installs one"
        ),
        arguments: alertCases
    )
    func alertFires(_ alert: AlertCase) async throws {
        let scratch = try Scratch()
        let group = { (series: [String: String], alerts: String) in
            let lines = series.sorted { $0.key < $1.key }.map {
                "      - { series: '\($0.key)', values: '\($0.value)' }\n"
            }
            return "  - interval: 1m\n    input_series:\n\(lines.joined())    alert_rule_test:\n"
                + "      - { eval_time: 50m, alertname: \(alert.alert), exp_alerts: [\(alerts)] }\n"
        }
        // The summary is compared, too: it is taken from the rules, so that only its form is tested here.
        let rules = try String(contentsOfFile: folder + "alerts.rules.yml", encoding: .utf8)
        let withoutSummaries = rules.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("annotations:") && !$0.contains("summary:") }.joined(separator: "\n")
        try withoutSummaries.write(toFile: scratch.file("rules.yml"), atomically: true, encoding: .utf8)
        let test =
            "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n"
            + group(alert.broken, "{ exp_labels: { \(alert.labels) } }") + group(alert.good, "")
        try test.write(toFile: scratch.file("test.yml"), atomically: true, encoding: .utf8)
        let tool = try #require(Prometheus.path("promtool"))
        let result = try await command([tool, "test", "rules", scratch.file("test.yml")])
        #expect(result.status == 0, "\(result)\n\(test)")
    }

    @Test("Every alert rule has a test")
    func alertsAreTested() throws {
        let rules = try String(contentsOfFile: folder + "alerts.rules.yml", encoding: .utf8)
        let names = rules.split(separator: "\n").compactMap { line in
            line.range(of: "- alert: ").map { String(line[$0.upperBound...]) }
        }
        #expect(names == Self.alertCases.map(\.alert))
    }

    @Test(
        "promtool accepts the queries of the Grafana dashboard",
        .enabled(
            if: Prometheus.path("promtool") != nil,
            "SKIPPED: there is no promtool; scripts/install-prometheus.sh installs one"
        )
    )
    func queries() async throws {
        let scratch = try Scratch()
        let json = try JSONValue(
            parsing: try String(contentsOfFile: folder + "grafana-dashboard.json", encoding: .utf8)
        )
        guard case .array(let panels)? = json["panels"] else { return #expect(Bool(false)) }
        var rules = "groups:\n  - name: queries\n    rules:\n"
        for panel in panels {
            guard case .array(let targets)? = panel["targets"] else { continue }
            for query in targets.compactMap({ $0["expr"]?.string }) {
                rules +=
                    "      - record: query\n        expr: |\n          \(query.replacing("$stream", with: ".*"))\n"
                    + "        labels: { panel: \"\(panel["title"]?.string ?? "")\" }\n"
            }
        }
        try rules.write(toFile: scratch.file("rules.yml"), atomically: true, encoding: .utf8)
        let tool = try #require(Prometheus.path("promtool"))
        let result = try await command([tool, "check", "rules", scratch.file("rules.yml")])
        #expect(result.status == 0, "\(result)\n\(rules)")
    }

    @Test(
        "systemd accepts the unit",
        .enabled(if: installedProgram("systemd-analyze") != nil, "SKIPPED: there is no systemd-analyze")
    )
    func unit() async throws {
        let scratch = try Scratch()
        let text = try String(contentsOfFile: folder + "player-monitor.service", encoding: .utf8)
        // The program of this build, because systemd looks for it.
        let unit = text.replacing("/usr/local/bin/player-monitor", with: siblingProgram("player-monitor"))
        try unit.write(toFile: scratch.file("player-monitor.service"), atomically: true, encoding: .utf8)
        let result = try await command([
            "systemd-analyze", "verify", "--man=no", "--recursive-errors=no", scratch.file("player-monitor.service"),
        ])
        #expect(result.status == 0 && result.errors == "", "\(result)")
    }

    @Test("The example configuration of the guide has no problem")
    func configurationFile() async throws {
        let result = try await command([siblingProgram("player-monitor"), "watch", "--check", folder + "monitor.yaml"])
        #expect(result.status == 0, "\(result)")
        #expect(result.output == "2 streams, 1 backend, 3 alerts, 1 receiver\n")
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
