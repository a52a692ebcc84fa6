import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture
import Testing

/// Backends of different speeds and outcomes share a log: samples must not be deleted before the saved cursors have
/// passed them.
@Suite("Kills with several backends", .serialized)
struct SeveralBackendsTortureTests {
    @Test("Nothing is lost to kill -9 with three backends of different speeds and outcomes")
    func threeBackends() async throws {
        let kills = TortureSettings.kills(percent: 15, short: 12)
        try await offPool { try Self.run(kills, part: "kills, three backends") { _ in [:] } }.report(
            "kills, three backends"
        )
    }

    @Test("Nothing is lost to kill -9 with three backends while the bookkeeping's disk is slow")
    func slowBookkeeping() async throws {
        let kills = TortureSettings.kills(percent: 5, short: 8)
        let part = "kills, slow bookkeeping"
        let findings = try await offPool { () -> Findings? in
            let scratch = try Scratch()
            do {
                let shim = try FaultShim(in: scratch.path)
                let fault = FaultShim.Fault(call: "write", times: .max, delay: 2000, suffix: "bookkeeping.sqlite-wal")
                return try Self.run(kills, part: part) { folder in
                    try shim.environment(directory: folder, counts: folder + "/counts", fault)
                }
            } catch let error as FaultShim.Unavailable {
                print("SKIPPED: \(part), because \(error.reason)")
                return nil
            }
        }
        findings?.report(part)
    }

    /// - Parameter environment: the environment of the killed processes, whose queue is in a folder.
    private static func run(
        _ kills: Int,
        part: String,
        environment: @Sendable @escaping (String) throws -> [String: String]
    ) throws -> Findings {
        let perQueue = 20
        return inParallel((kills + perQueue - 1) / perQueue, part: part) { round in
            let scratch = try Scratch()
            var generator = SeededGenerator(seed: TortureSettings.seed &+ UInt64(round))
            let queue = KilledQueue(
                plan(scratch.path),
                files: scratch.path,
                label: "round \(round)",
                environment: try environment(scratch.path)
            )
            try queue.kill(min(perQueue, kills - round * perQueue), &generator)
            return try queue.drain()
        }
    }

    private static func plan(_ folder: String) -> ChildPlan {
        let quick = BackendPlan("quick", to: folder + "/quick")
        var picky = BackendPlan("picky", to: folder + "/picky", seed: 0)
        picky.refusedMultiple = 7
        var slow = BackendPlan("slow", to: folder + "/slow", seed: 0)
        (slow.slowness, slow.refusedMultiple) = (2000, 11)
        var plan = ChildPlan(.emit, directory: folder + "/queue", backends: [quick, picky, slow])
        plan.segmentSize = 4096
        return plan
    }
}
