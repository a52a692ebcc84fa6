import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentJSON
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// Each service through a server that fails in every way, over a durable queue that is closed and opened again.
///
/// `TORTURE_SEED` repeats a failure.
@Suite("Service backends with a failing server", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct ServiceFaultTests {
    private static let seed =
        ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...0xFFFF_FFFF)
    private static let (runs, perRun) = (4, 75)

    @Test(
        "A service backend loses no sample, sends only equal copies, keeps the order, and buries only the culprits",
        arguments: Service.allCases
    )
    func faults(service: Service) async throws {
        let server = try FaultServer(service, seed: Self.seed)
        let directory = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var (ledger, dead) = (Ledger(), [DeadLetter]())
        for run in 0..<Self.runs {
            let store = try DurableStore(directory: directory + "/queue")
            let backend = try service.makeBackend(server.address, directory)
            let queue = BatchQueue(store: store, backends: [backend], clock: HurriedClock(factor: 100))
            for number in 0..<Self.perRun { queue.append([Self.sample(run * Self.perRun + number)]) }
            let isLast = run == Self.runs - 1
            // Minutes of back-off are seconds here; each run except the last one ends during a back-off.
            let isEmpty = await queue.shutdown(timeout: .seconds(isLast ? 2_000_000 : 10))
            if isLast { #expect(isEmpty, "seed \(Self.seed)") }
            (ledger, dead) = (store.ledger(of: backend.name), store.deadLetters(of: backend.name))
            store.close()
        }
        check(server.current, ledger, dead)
    }

    private func check(_ state: FaultServer.State, _ ledger: Ledger, _ dead: [DeadLetter]) {
        let label: Comment = "seed \(Self.seed)"
        let count = Self.runs * Self.perRun
        var first: [SampleID: JSONValue] = [:]
        var order: [SampleID] = []
        for (id, json) in state.taken {
            if let known = first.updateValue(json, forKey: id) {
                #expect(known == json, label)
            } else {
                order.append(id)
            }
        }
        let culprits = (0..<count).filter(Self.isCulprit).count
        #expect((ledger.emitted, ledger.acknowledged, ledger.dead) == (count, count - culprits, culprits), label)
        #expect((ledger.queued, ledger.dropped) == (0, 0), label)
        #expect(first.count == count - culprits, label)
        #expect(Set(first.keys).isDisjoint(with: dead.map(\.record.id)), label)
        #expect(dead.allSatisfy { "\($0.record.sample)".contains(FaultServer.culprit) }, label)
        #expect(dead.allSatisfy { $0.reason.contains("one of them is bad") }, label)
        #expect(dead.allSatisfy { !$0.reason.contains("\u{1B}") && !$0.reason.contains("\n") }, label)
        let numbers = order.compactMap { Self.number(of: first[$0]) }
        #expect(numbers == (0..<count).filter { !Self.isCulprit($0) }, label)
        let answers = state.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        print("service faults: \(label), \(state.taken.count - first.count) copies,", answers.joined(separator: ", "))
    }

    private static func isCulprit(_ number: Int) -> Bool { number % 60 == 31 }

    private static func sample(_ number: Int) -> Sample {
        var event = Event(Action("Liked"), tracker: TrackerID(0), time: SystemClock().timestamp)
        event[.source] = "https://example.org/\(isCulprit(number) ? FaultServer.culprit : "film")/\(number)"
        return .event(event)
    }

    /// The number at the end of the sample's source, wherever the service has that.
    private static func number(of json: JSONValue?) -> Int? {
        let places = [json?["variables"]?["source"], json?["object"]?["id"], json?["fields"]?["source"]]
        let text = places.compactMap { $0?.string }.first
        return text?.split(separator: "/").last.flatMap { Int($0) }
    }
}
