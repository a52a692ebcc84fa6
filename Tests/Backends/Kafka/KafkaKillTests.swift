import Instrument
import InstrumentTestKit
import QueueTorture
import TestTraits
import Testing

/// Kills processes that produce to brokers that fail; see ``TortureSettings``.
@Suite("Kills with Kafka behind the queue", .ownThread, .serialized)
struct KafkaKillTests {
    @Test("Every sample that a killed process emitted arrives, in the order of its thread, while brokers fail")
    func kills() async throws {
        let cluster = try MockCluster()
        let target = "kafka:\(cluster.brokers.joined(separator: ","))/\(MockCluster.topic)"
        let kills = TortureSettings.kills(percent: 2, short: 8)
        try await SinkTorture.run(target: target, kills: kills, label: "Kafka") { generator in
            let broker = Int.random(in: 1...3, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: cluster.setBroker(broker, isDown: true)
            case 1: cluster.setBroker(broker, isDown: false)
            case 2: cluster.setLeader(of: Int.random(in: 0..<cluster.partitions, using: &generator), to: broker)
            default: cluster.setRoundTrip(of: broker, milliseconds: Int.random(in: 0..<50, using: &generator))
            }
        } calm: {
            for broker in 1...3 {
                cluster.setBroker(broker, isDown: false)
                cluster.setRoundTrip(of: broker, milliseconds: 0)
            }
        } arrived: {
            try cluster.messages().map(\.value)
        }.report("kills, Kafka")
    }
}
