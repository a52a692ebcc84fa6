import Foundation
import Instrument
import InstrumentHTTP
import InstrumentTestKit
import QueueTorture
import TestTraits
import Testing

/// Kills processes that write to a real InfluxDB, which stops for a while; see ``TortureSettings``.
@Suite(
    "Kills with InfluxDB behind the queue",
    .ownThread,
    .serialized,
    .enabled(if: RealInflux.isInstalled, "scripts/install-servers.sh installs InfluxDB")
)
struct InfluxKillTests {
    @Test("Every sample that a killed process emitted is stored once, while the server stops")
    func kills() async throws {
        let influx = try await RealInflux()
        let kills = TortureSettings.kills(percent: 2, short: 8)
        let findings = try await SinkTorture.run(
            target: "influx:\(influx.url.origin)?db=media",
            kills: kills,
            label: "InfluxDB"
        ) { generator in
            influx.server.send(Bool.random(using: &generator) ? SIGSTOP : SIGCONT)
        } calm: {
            influx.server.send(SIGCONT)
        } arrived: {
            try await influx.lines()
        }
        findings.report("kills, InfluxDB")
        // A point that is written twice replaces itself.
        #expect(!findings.counts.contains { $0.name == "repeated" && $0.count > 0 })
    }
}
