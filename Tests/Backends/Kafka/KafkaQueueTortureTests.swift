import CKafka.Mock
import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentKafka
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// Samples through a durable queue, which is closed and opened again, into brokers that fail at random.
///
/// `TORTURE_SEED` repeats a failure.
@Suite("Kafka behind a durable queue", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct KafkaQueueTortureTests {
    private static let seed =
        ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...0xFFFF_FFFF)
    private static let (runs, perRun, sessions) = (4, 150, 6)
    private static let limit = 3000

    @Test("Every sample arrives, except samples that are too large, when brokers fail and the queue is opened again")
    func torture() async throws {
        let (cluster, scratch) = (try MockCluster(), try Scratch())
        let done = Lock(false)
        let trouble = Task {
            var generator = SeededGenerator(seed: Self.seed)
            while !done.withLock({ $0 }) {
                Self.disturb(cluster, &generator)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        var (ledger, dead) = (Ledger(), [DeadLetter]())
        for run in 0..<Self.runs {
            let store = try DurableStore(directory: scratch.file("queue"))
            let isLast = run == Self.runs - 1
            let configuration = KafkaConfiguration(
                timeout: .milliseconds(isLast ? 20_000 : 500),
                policy: DeliveryPolicy(maxCount: 25, maxAge: .zero),
                maxMessageBytes: Self.limit
            )
            let backend = try KafkaBackend(cluster.endpoint(), configuration: configuration)
            let queue = BatchQueue(store: store, backends: [backend], clock: HurriedClock(factor: 100))
            for number in 0..<Self.perRun { queue.append([Self.sample(run * Self.perRun + number)]) }
            if isLast {
                done.withLock { $0 = true }
                _ = try? await trouble.value
                Self.calm(cluster)
            }
            let isEmpty = await queue.shutdown(timeout: .seconds(isLast ? 2_000_000 : 50))
            if isLast { #expect(isEmpty, "seed \(Self.seed)") }
            (ledger, dead) = (store.ledger(of: backend.name), store.deadLetters(of: backend.name))
            store.close()
        }
        try check(cluster.messages(), ledger, dead)
    }

    private static func disturb(_ cluster: MockCluster, _ generator: inout SeededGenerator) {
        let broker = Int(generator.next() % 3) + 1
        switch generator.next() % 6 {
        case 0: cluster.setBroker(broker, isDown: true)
        case 1, 2: cluster.setBroker(broker, isDown: false)
        case 3: cluster.setLeader(of: Int(generator.next() % 4), to: broker)
        case 4: cluster.failProducing(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
        default: cluster.setRoundTrip(of: broker, milliseconds: Int(generator.next() % 100))
        }
    }

    private static func calm(_ cluster: MockCluster) {
        for broker in 1...3 {
            cluster.setBroker(broker, isDown: false)
            cluster.setRoundTrip(of: broker, milliseconds: 0)
        }
    }

    private static func isTooLarge(_ number: Int) -> Bool { number % 60 == 31 }

    private static func sample(_ number: Int) -> Sample {
        let text = isTooLarge(number) ? String(repeating: "x", count: 2 * limit) : "film"
        return SessionSamples.event(number, session: "session-\(number % sessions)", text: text)
    }

    private func check(_ messages: [MockCluster.Message], _ ledger: Ledger, _ dead: [DeadLetter]) throws {
        let label: Comment = "seed \(Self.seed)"
        let count = Self.runs * Self.perRun
        let large = (0..<count).filter(Self.isTooLarge)
        #expect((ledger.emitted, ledger.acknowledged, ledger.dead) == (count, count - large.count, large.count), label)
        #expect((ledger.queued, ledger.dropped) == (0, 0), label)
        #expect(dead.allSatisfy { $0.reason.contains("MSG_SIZE_TOO_LARGE") }, label)
        var values: [SampleID: [UInt8]] = [:]
        for message in messages {
            let id = try #require(message.id)
            if let known = values.updateValue(message.value, forKey: id) { #expect(known == message.value, label) }
        }
        let numbers = try values.values.map { value -> Int in
            guard case .int(let number)? = try JSONLines.decode(value).sample.attributes["number"] else {
                throw NoCluster()
            }
            return number
        }
        #expect(Set(numbers) == Set(0..<count).subtracting(large), label)
        print("Kafka torture: \(label), \(messages.count - values.count) copies of \(values.count) messages")
    }
}
