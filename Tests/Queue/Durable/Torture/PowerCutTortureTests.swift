import Foundation
import Instrument
import InstrumentTestKit
import QueueChildPlan
import QueueTorture
import Testing

/// Cuts the power of the queue's disk, and opens the queue in the resulting state.
@Suite("Power cuts under the durable queue", .serialized)
struct PowerCutTortureTests {
    private static let synchronizations: [(label: String, ChildPlan.Synchronization?)] = [
        ("sync per sample", .count(1)), ("sync per 100", .count(100)), ("sync by time", .interval(milliseconds: 100)),
        ("synchronize()", nil),
    ]

    @Test("Every synchronized sample survives a power cut at any moment")
    func powerCuts() async throws {
        let findings = try await offPool { try Self.runAll() }
        findings?.report("power cuts")
    }

    /// All kinds of synchronization at the same time, each on a separate disk; then all cuts are verified.
    private static func runAll() throws -> Findings? {
        let (count, seconds) = TortureSettings.isLong ? (60, 60.0) : (3, 5.0)
        do {
            let runs = try synchronizations.enumerated().map { index, kind in
                PowerCut(try NestedDisk(), label: kind.label, synchronization: kind.1, isSecondOffline: index != 1)
            }
            let cuts = Lock<[(PowerCut, PowerCut.Cut)]>([])
            var findings = inParallel(runs.count, atOnce: runs.count, part: "power cuts") { index in
                var generator = SeededGenerator(seed: TortureSettings.seed &+ UInt64(index))
                let moments = (0..<count).map { _ in Duration.seconds(.random(in: 0.5...seconds, using: &generator)) }
                let taken = try runs[index].cuts(at: moments, &generator)
                cuts.withLock { $0 += taken.map { (runs[index], $0) } }
                return Findings()
            }
            let all = cuts.withLock { $0 }
            findings += inParallel(all.count, part: "verified power cuts") { index in
                try all[index].0.verify(all[index].1)
            }
            return findings
        } catch let error as NestedDisk.Unavailable {
            print("SKIPPED: power cuts under the durable queue, because \(error.reason)")
            return nil
        }
    }
}
