import Foundation
import Instrument
import InstrumentTestKit
import QueueTorture
import TestTraits
import Testing

/// Kills processes that publish to a real server, which stops for a while; see ``TortureSettings``.
@Suite(
    "Kills with NATS behind the queue",
    .ownThread,
    .serialized,
    .enabled(if: NATSServer.isInstalled, "scripts/install-servers.sh installs nats-server")
)
struct NATSKillTests {
    @Test("Every sample that a killed process emitted is stored, in the order of its thread, while the server stops")
    func kills() async throws {
        let server = try await NATSServer()
        try NATSClient(port: server.port).createStream()
        let kills = TortureSettings.kills(percent: 2, short: 8)
        try await SinkTorture.run(target: "nats:\(server.address)/samples", kills: kills, label: "NATS") { generator in
            server.send(Bool.random(using: &generator) ? SIGSTOP : SIGCONT)
        } calm: {
            server.send(SIGCONT)
        } arrived: {
            try NATSClient(port: server.port).stored().map(\.payload)
        }.report("kills, NATS")
    }
}
