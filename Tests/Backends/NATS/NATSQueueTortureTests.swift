import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentNATS
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// Samples through a durable queue, which is closed and opened again, into a server that is killed, ended and stopped
/// at random.
///
/// `TORTURE_SEED` repeats a failure.
@Suite(
    "NATS behind a durable queue",
    .ownThread,
    .serialized,
    .timeLimit(.minutes(30)),
    .enabled(if: NATSServer.isInstalled, "scripts/install-servers.sh installs nats-server")
)
struct NATSQueueTortureTests {
    private static let seed =
        ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...0xFFFF_FFFF)
    private static let (runs, perRun) = (4, 300)

    @Test("Every sample is stored once and in its order, except samples that are too large, when the server fails")
    func torture() async throws {
        let (server, scratch) = (try await NATSServer("max_payload: 4096"), try Scratch())
        try NATSClient(port: server.port).createStream()
        let done = Lock(false)
        let trouble = Task.detached(executorPreference: OwnThread()) {
            var generator = SeededGenerator(seed: Self.seed)
            while !done.withLock({ $0 }) {
                try await Self.disturb(server, &generator)
                try await Task.sleep(for: .milliseconds(Int(generator.next() % 60)))
            }
        }
        var (ledger, dead) = (Ledger(), [DeadLetter]())
        for run in 0..<Self.runs {
            let store = try DurableStore(directory: scratch.file("queue"))
            let isLast = run == Self.runs - 1
            let configuration = NATSConfiguration(
                timeout: .milliseconds(isLast ? 20_000 : 300),
                policy: DeliveryPolicy(maxCount: 25, maxAge: .zero),
                maxUnconfirmed: 7
            )
            let endpoint = try NATSEndpoint(servers: [server.address], subject: "samples")
            let backend = try NATSBackend(endpoint, configuration: configuration)
            let queue = BatchQueue(store: store, backends: [backend], clock: HurriedClock(factor: 100))
            for number in 0..<Self.perRun { queue.append([Self.sample(run * Self.perRun + number)]) }
            if isLast {
                done.withLock { $0 = true }
                try await trouble.value
            }
            let isEmpty = await queue.shutdown(timeout: .seconds(isLast ? 2_000_000 : 50))
            if isLast { #expect(isEmpty, "seed \(Self.seed)") }
            (ledger, dead) = (store.ledger(of: backend.name), store.deadLetters(of: backend.name))
            store.close()
        }
        let label: Comment = "seed \(Self.seed)"
        let count = Self.runs * Self.perRun
        let large = (0..<count).filter(Self.isTooLarge)
        #expect((ledger.emitted, ledger.acknowledged, ledger.dead) == (count, count - large.count, large.count), label)
        #expect((ledger.queued, ledger.dropped) == (0, 0), label)
        #expect(dead.allSatisfy { $0.reason.contains("max_payload") }, label)
        let numbers = try NATSClient(port: server.port).stored().compactMap(\.number)
        #expect(numbers == (0..<count).filter { !Self.isTooLarge($0) }, label)
        print("NATS torture: \(label), \(numbers.count) messages")
    }

    private static func disturb(_ server: NATSServer, _ generator: inout SeededGenerator) async throws {
        switch generator.next() % 4 {
        case 0: server.end(SIGKILL)
        case 1: server.end(SIGTERM)
        default:
            server.send(SIGSTOP)
            try await Task.sleep(for: .milliseconds(Int(generator.next() % 200)))
            return server.send(SIGCONT)
        }
        try await server.start()
    }

    private static func isTooLarge(_ number: Int) -> Bool { number % 60 == 31 }

    private static func sample(_ number: Int) -> Sample {
        SessionSamples.event(
            number,
            session: "s",
            text: isTooLarge(number) ? String(repeating: "x", count: 8000) : "film"
        )
    }
}
