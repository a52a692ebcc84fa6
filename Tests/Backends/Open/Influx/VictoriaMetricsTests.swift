import Foundation
import Instrument
import InstrumentGraphite
import InstrumentHTTP
import InstrumentInflux
import InstrumentJSON
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

/// VictoriaMetrics with empty storage, which accepts the line protocol of InfluxDB and the plaintext protocol of
/// Graphite.
private struct RealVictoriaMetrics {
    static let isInstalled = RealServer.program("victoria-metrics") != nil

    let server: RealServer
    let url: HTTPURL
    let graphitePort: UInt16
    private let transport: SystemTransport

    init() async throws {
        guard let program = RealServer.program("victoria-metrics") else { throw NoServer(why: "not installed") }
        let (port, graphite) = (try TestServer.closedPort(), try TestServer.closedPort())
        let (url, transport) = (try HTTPURL("http://127.0.0.1:\(port)"), try SystemTransport())
        let health = HTTPRequest(.get, try url.resolving("/health"))
        server = try await RealServer(program) { scratch in
            [
                "-storageDataPath=\(scratch)/data", "-httpListenAddr=127.0.0.1:\(port)",
                "-graphiteListenAddr=127.0.0.1:\(graphite)", "-retentionPeriod=100y", "-search.latencyOffset=0s",
            ]
        } isReady: {
            (try? await transport.send(health))?.status == 200
        }
        (self.url, self.transport, graphitePort) = (url, transport, graphite)
    }

    /// The exported series of a selector: one object for each.
    func series(_ selector: String, count: Int) async throws -> [JSONValue] {
        let flush = HTTPRequest(.get, try url.resolving("/internal/force_flush"))
        let export = try url.resolving("/api/v1/export?match[]=" + PercentCoding.encoded(selector))
        for _ in 0..<600 {
            _ = try await transport.send(flush)
            let body = try await transport.send(HTTPRequest(.get, export, maxResponseBytes: 16 << 20)).body
            let series = try body.split(separator: 10).map { try JSONValue(parsing: Array($0)) }
            if series.count >= count { return series }
            try await Task.sleep(for: .milliseconds(100))
        }
        return []
    }
}

@Suite(
    "InfluxDB and Graphite backends with a real VictoriaMetrics",
    .ownThread,
    .serialized,
    .enabled(
        if: RealVictoriaMetrics.isInstalled,
        "SKIPPED: there is no VictoriaMetrics to test with; scripts/install-servers.sh installs one"
    )
)
struct VictoriaMetricsTests {
    private let samples = (0..<50).map { number in
        Samples.metric(.startTime, .int(number), at: Samples.time + Int64(number) * 1000, ["trackerTarget": "a b,c=d"])
    }

    @Test("Metrics in line protocol are read back with their tags, values and times")
    func lineProtocol() async throws {
        let victoria = try await RealVictoriaMetrics()
        let endpoint = try InfluxEndpoint(url: victoria.url, database: "media")
        let backend = try InfluxBackend(endpoint, transport: SystemTransport())
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let series = try await victoria.series(#"{__name__="OAVT_METRICS_value"}"#, count: 1)
        #expect(series.first?["metric"]?["trackerTarget"]?.string == "a b,c=d")
        #expect(series.first?["metric"]?["metric"]?.string == "StartTime")
        check(series)
    }

    @Test("Metrics in the plaintext protocol are read back with their tags, values and times")
    func plaintext() async throws {
        let victoria = try await RealVictoriaMetrics()
        let mapping = GraphiteMapping(usesTags: true)
        let backend = GraphiteBackend(
            GraphiteAddress(host: "127.0.0.1", port: victoria.graphitePort),
            configuration: GraphiteConfiguration { mapping($0) }
        )
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let series = try await victoria.series(#"{__name__="instrument.metrics.StartTime"}"#, count: 1)
        #expect(series.first?["metric"]?["trackerTarget"]?.string == "a_b_c_d")
        check(series)
        await backend.end()
    }

    @Test("Streams of a monitor are separate series with their labels, by either protocol")
    func streams() async throws {
        let victoria = try await RealVictoriaMetrics()
        let influx = try InfluxBackend(
            InfluxEndpoint(url: victoria.url, database: "media"),
            transport: SystemTransport()
        )
        let mapping = GraphiteMapping(usesTags: true)
        let graphite = GraphiteBackend(
            GraphiteAddress(host: "127.0.0.1", port: victoria.graphitePort),
            configuration: GraphiteConfiguration { mapping($0) }
        )
        let batch = Batch(
            records: Samples.records(["a", "b"].map { Samples.metric(.startTime, 7, Samples.stream($0)) })
        )
        #expect(await influx.deliver(batch) == .acknowledged)
        #expect(await graphite.deliver(batch) == .acknowledged)
        for selector in [#"{__name__="OAVT_METRICS_value"}"#, #"{__name__="instrument.metrics.StartTime"}"#] {
            let series = try await victoria.series(selector, count: 2)
            #expect(Set(series.map { $0["metric"]?["monitorStream"]?.string }) == ["a", "b"], "\(selector)")
            #expect(series.allSatisfy { $0["metric"]?["cdn"]?.string == "alpha" })
            #expect(series.allSatisfy { $0["metric"]?["monitorLocation"]?.string == "oslo" })
        }
        await graphite.end()
    }

    private func check(_ series: [JSONValue]) {
        guard case .array(let values)? = series.first?["values"], case .array(let times)? = series.first?["timestamps"]
        else {
            Issue.record("\(series)")
            return
        }
        #expect(values.compactMap(\.number) == (0..<50).map { Double($0) })
        #expect(times.compactMap(\.int) == (0..<50).map { Int(Samples.time) + $0 * 1000 })
    }
}
