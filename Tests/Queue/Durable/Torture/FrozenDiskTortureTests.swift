import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture
import Testing

/// Freezes the disk under the queue, measures the emits, and kills the process before the disk continues.
@Suite("Frozen disks under the durable queue", .serialized)
struct FrozenDiskTortureTests {
    private static var scenarios: [FrozenDisk] {
        let short = [
            FrozenDisk(level: .inner, synchronization: .interval(milliseconds: 5), threads: 4),
            FrozenDisk(level: .outer, synchronization: .count(100), threads: 1),
        ]
        guard TortureSettings.isLong else { return short }
        return [NestedDisk.Level.inner, .outer].flatMap { level in
            [ChildPlan.Synchronization.never, .count(1), .interval(milliseconds: 5)].flatMap { synchronization in
                [1, 4].map { FrozenDisk(level: level, synchronization: synchronization, threads: $0) }
            }
        }
    }

    @Test("emit continues while the disk hangs, and kill -9 during the hang loses no stored sample")
    func frozen() async throws {
        let findings = try await offPool { () -> Findings? in
            var findings = Findings()
            for scenario in Self.scenarios {
                do {
                    findings += try scenario.run(on: try NestedDisk())
                } catch let error as NestedDisk.Unavailable {
                    print("SKIPPED: frozen disks under the durable queue, because \(error.reason)")
                    return nil
                }
            }
            return findings
        }
        findings?.report("frozen disks")
    }

    @Test(
        "emit does not wait for a disk that allocates slowly",
        .enabled(if: LastingMemory.isThere, "\(LastingMemory.whyNot)")
    )
    func slowAllocation() async throws {
        let findings = try await offPool { () -> Findings? in
            do { return try SlowAllocation().run() } catch let error as FaultShim.Unavailable {
                print("SKIPPED: slow allocation under the durable queue, because \(error.reason)")
                return nil
            }
        }
        findings?.report("slow allocation")
    }
}
