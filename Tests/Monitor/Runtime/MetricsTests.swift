import Foundation
import Instrument
import InstrumentMonitor
import InstrumentWatch
import LoopbackServers
import Testing

/// promtool and Prometheus, from the path or from scripts/install-prometheus.sh.
enum Prometheus {
    static func path(_ name: String) -> String? {
        let package = packageRoot.path
        let folder =
            ProcessInfo.processInfo.environment["PROMETHEUS_DIRECTORY"] ?? package + "/.build/prometheus/usr/bin"
        let unpacked = folder + "/" + name
        return FileManager.default.isExecutableFile(atPath: unpacked) ? unpacked : installedProgram(name)
    }
}

@Suite("The page of metrics")
struct MetricsTests {
    private func page(
        _ streams: [WatchedStream],
        _ format: MetricsWriter.Format = .prometheus,
        prepare: (inout Drive) -> Void = { _ in }
    ) throws -> String {
        var drive = Drive(configuration(streams, [try alert("down", "up == 0")]))
        drive.run(for: .seconds(10))
        prepare(&drive)
        drive.run(for: .seconds(2))
        var facts = MonitorFacts()
        var ledger = Ledger()
        (ledger.emitted, ledger.acknowledged, ledger.drops) = (7, 5, [.age: 2])
        facts.ledgers = [("samples", ledger)]
        facts.build = [("version", "0.1.0"), ("libcurl", "8\"1")]
        facts.process = ProcessFigures(
            residentBytes: 1 << 26,
            threads: 9,
            openFiles: 20,
            cpuSeconds: 1.5,
            startTime: WallTime(milliseconds: 1_767_225_600_000)
        )
        return String(
            decoding: MonitorMetrics(of: drive.model, facts, at: drive.now.instant).bytes(format),
            as: UTF8.self
        )
    }

    private static let busy: @Sendable (inout Drive) -> Void = { drive in
        for (status, isFailure) in [(200, false), (404, true)] {
            drive.send(
                .request(
                    RequestObservation(
                        kind: "segment",
                        status: status,
                        isFailure: isFailure,
                        total: .milliseconds(80),
                        byteCount: 1
                    )
                ),
                to: "a"
            )
        }
        drive.emit(.error, "a", ["errorCode": "httpStatus", "errorDescription": "x"])
        drive.emit(.ping, "a", ["liveLatency": 4_500])
        drive.send(.gauges(PlaybackGauges(bitrate: 800_000, buffered: .seconds(9))), to: "a")
        let broken = [CheckObservation.Broken(rule: "black", message: "b")]
        let age = CheckObservation(
            broken: broken,
            playlistAge: .seconds(1),
            targetDuration: .seconds(2),
            loudness: -23.5
        )
        drive.send(.checked(age), to: "a")
    }

    @Test("The page has every metric of a stream, with its labels")
    func content() throws {
        let text = try page([try stream("a", labels: ["channel": "news", "cdn": "b"])], prepare: Self.busy)
        let labels = #"stream="a",cdn="b",channel="news""#
        for line in [
            "instrument_stream_up{\(labels)} 1", "instrument_stream_startup_seconds_bucket{\(labels),le=\"0.5\"} 1",
            "instrument_stream_startup_seconds_bucket{\(labels),le=\"+Inf\"} 1",
            "instrument_stream_startup_seconds_sum{\(labels)} 0.5",
            "instrument_stream_startup_seconds_count{\(labels)} 1",
            "instrument_stream_rebuffers_total{\(labels)} 0", "instrument_stream_rebuffer_seconds_total{\(labels)} 0",
            "instrument_stream_playing_seconds_total{\(labels)} 9.5",
            "instrument_stream_bitrate_bits_per_second{\(labels)} 800000",
            "instrument_stream_latency_seconds{\(labels)} 4.5", "instrument_stream_buffer_seconds{\(labels)} 9",
            "instrument_stream_errors_total{\(labels),code=\"httpStatus\"} 1",
            "instrument_stream_requests_total{\(labels),kind=\"segment\",status=\"404\"} 1",
            "instrument_stream_request_seconds_bucket{\(labels),le=\"0.1\"} 2",
            "instrument_stream_check_failed{\(labels),rule=\"black\"} 1",
            "instrument_stream_playlist_age_seconds{\(labels)} 3", "instrument_stream_loudness_lufs{\(labels)} -23.5",
            "instrument_backend_acknowledged_samples_total{backend=\"samples\"} 5",
            "instrument_backend_dropped_samples_total{backend=\"samples\",reason=\"age\"} 2",
            "instrument_build_info{version=\"0.1.0\",libcurl=\"8\\\"1\"} 1",
            "instrument_monitor_alert_firing{alert=\"down\"} 0", "process_resident_memory_bytes 67108864",
        ] {
            #expect(text.contains(line + "\n"), "missing: \(line)")
        }
        #expect(!text.contains("example.org"))
        #expect(!text.contains("# EOF"))
    }

    @Test("Names with quotes, backslashes and line breaks stay one label")
    func escaping() throws {
        let name = "a\"} 1\nfake{x=\"\\ \u{1F600}"
        let text = try page([try stream(name)])
        #expect(text.contains(#"instrument_stream_up{stream="a\"} 1\nfake{x=\"\\ 😀"} 1"#))
        #expect(!text.split(separator: "\n").contains { $0.hasPrefix("fake") })
    }

    @Test("OpenMetrics names families without _total and ends with EOF")
    func openMetrics() throws {
        let text = try page([try stream("a")], .openMetrics, prepare: Self.busy)
        #expect(text.hasSuffix("# EOF\n"))
        #expect(
            text.contains(
                "# TYPE instrument_stream_rebuffers counter\ninstrument_stream_rebuffers_total{stream=\"a\"} 0\n"
            )
        )
        #expect(text.contains("# UNIT instrument_stream_startup_seconds seconds\n"))
        #expect(
            MetricsWriter.Format(accept: "application/openmetrics-text;version=1.0.0,text/plain;q=0.5") == .openMetrics
        )
        #expect(MetricsWriter.Format(accept: nil) == .prometheus)
    }

    @Test("Each family has one HELP and one TYPE, in front of its samples")
    func families() throws {
        for format in [MetricsWriter.Format.prometheus, .openMetrics] {
            let lines = try page([try stream("a"), try stream("b")], format, prepare: Self.busy).split(separator: "\n")
            let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
            #expect(Set(types).count == types.count)
            #expect(lines.filter { $0.hasPrefix("# HELP ") }.count == types.count)
            var current: Substring = ""
            for line in lines where line != "# EOF" {
                if line.hasPrefix("# TYPE ") { current = line.split(separator: " ")[2] }
                if !line.hasPrefix("#") { #expect(line.hasPrefix(current), "\(line) is not in the family \(current)") }
            }
            let samples = lines.filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != "}" } }
            #expect(Set(samples).count == samples.count)
        }
    }

    @Test(
        "promtool accepts the page, and has no remark but about bits",
        .enabled(
            if: Prometheus.path("promtool") != nil,
            "SKIPPED: there is no promtool; scripts/install-prometheus.sh installs one"
        )
    )
    func promtool() async throws {
        let tool = try #require(Prometheus.path("promtool"))
        let scratch = try Scratch()
        let text = try page([try stream("a", labels: ["channel": "news"]), try stream("b\"\\")], prepare: Self.busy)
        try text.write(toFile: scratch.file("page"), atomically: true, encoding: .utf8)
        let result = try await command(["sh", "-c", "'\(tool)' check metrics < '\(scratch.file("page"))'"])
        // The unit of bitrates is the specification's; promtool prefers bytes.
        let remarks = (result.output + result.errors).split(separator: "\n").filter {
            !$0.contains("\"bytes\" instead of \"bits\"")
        }
        #expect(remarks == [])
        #expect(result.status == 0 || result.status == 3)
    }
}
