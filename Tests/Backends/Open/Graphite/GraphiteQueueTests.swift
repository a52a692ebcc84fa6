import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentGraphite
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// Graphite behind a durable queue that is closed and opened again, with a server whose connections break.
///
/// `TORTURE_SEED` repeats a failure.
@Suite("Graphite behind a durable queue", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct GraphiteQueueTests {
    private static let seed =
        ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...0xFFFF_FFFF)
    private static let (runs, perRun) = (4, 300)

    @Test("The ledger adds up and lines stay whole and in order when connections break and the queue is opened again")
    func torture() async throws {
        var generator = SeededGenerator(seed: Self.seed)
        let limits = (0..<500).map { _ in Int(generator.next() % 6000) + 1 }
        let done = Lock(false)
        let server = try LineServer { number in
            done.withLock { $0 } || number >= limits.count || number % 5 == 4 ? .read : .resetAfter(limits[number])
        }
        let scratch = try Scratch()
        var ledger = Ledger()
        for run in 0..<Self.runs {
            let isLast = run == Self.runs - 1
            if isLast { done.withLock { $0 = true } }
            let store = try DurableStore(directory: scratch.file("queue"))
            let configuration = GraphiteConfiguration(
                timeout: .seconds(300),
                policy: DeliveryPolicy(maxCount: 25, maxAge: .zero),
                mapping: { record in
                    let number = record.sample.attributes["number"]?.description ?? ""
                    return GraphitePoint(path: ["all", number], value: 1, time: record.sample.time.wallTime)
                }
            )
            let address = GraphiteAddress(host: "127.0.0.1", port: server.port)
            let backend = GraphiteBackend(address, configuration: configuration)
            let queue = BatchQueue(store: store, backends: [backend], clock: HurriedClock(factor: 100))
            for number in 0..<Self.perRun {
                queue.append([Samples.event(.ping, ["number": .int(run * Self.perRun + number)])])
            }
            // All but the last run end in the middle of a back-off.
            let isEmpty = await queue.shutdown(timeout: .seconds(isLast ? 2_000_000 : 10))
            if isLast { #expect(isEmpty, "seed \(Self.seed)") }
            ledger = store.ledger(of: backend.name)
            store.close()
        }
        let label: Comment = "seed \(Self.seed)"
        let count = Self.runs * Self.perRun
        #expect((ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead) == (count, count, 0, 0), label)
        await server.wait { $0.contains("all.\(count - 1) 1 1767225600") }
        let lines = server.lines
        #expect(lines.allSatisfy { $0.hasPrefix("all.") && $0.hasSuffix(" 1 1767225600") }, label)
        var known = Set<String>()
        let first = lines.filter { known.insert($0).inserted }.compactMap { Int($0.dropFirst(4).prefix { $0 != " " }) }
        // A reset discards what the server's system has confirmed and not read: TCP gives no better promise.
        #expect(first == first.sorted() && first.count > count / 2, label)
        // The samples that were delivered after the last reset arrived.
        #expect(Set(first).isSuperset(of: (Self.runs - 1) * Self.perRun..<count), label)
        print("Graphite faults: \(label), \(server.connectionCount) connections, \(first.count) of \(count) lines")
    }
}
