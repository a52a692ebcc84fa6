import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture
import TestTraits
import Testing

/// Kills a process that emits and delivers, repeatedly and at random instants; see ``TortureSettings``.
@Suite("Torture of the durable queue", .serialized)
struct TortureTests {
    /// The number of kills of one directory, which limits the number of samples to compare.
    private static let killsPerQueue = 50

    @Test("kill -9 loses no emitted sample; duplicates are equal; the order is kept; the ledger adds up")
    func kills() async throws {
        let kills = TortureSettings.kills(percent: 60, short: 20)
        try await offPool {
            try Self.rounds(kills, part: "kills, file") { folder, _, generator in
                let queue = KilledQueue(Self.plan(folder, to: folder + "/delivered"), files: folder, label: "kills")
                try queue.kill(min(kills, Self.killsPerQueue), &generator)
                return try queue.drain()
            }
        }.report("kills, file")
    }

    @Test("Every sample arrives or is a dead letter when the process is killed and the server fails in every way")
    func server() async throws {
        let kills = TortureSettings.kills(percent: 10, short: 8)
        try await offPool {
            try Self.rounds(kills, part: "kills, server") { folder, seed, generator in
                try Self.killWithServer(min(kills, Self.killsPerQueue), atOnce: 1, folder, seed, &generator)
            }
        }.report("kills, server")
    }

    @Test("Two processes that share a directory and are killed repeatedly keep their samples apart and lose nothing")
    func twoProcesses() async throws {
        let kills = TortureSettings.kills(percent: 10, short: 6)
        try await offPool {
            try Self.rounds(kills, part: "kills, two at once") { folder, seed, generator in
                try Self.killWithServer(min(kills, Self.killsPerQueue), atOnce: 2, folder, seed, &generator)
            }
        }.report("kills, two at once")
    }

    private static func killWithServer(
        _ kills: Int,
        atOnce: Int,
        _ folder: String,
        _ seed: UInt64,
        _ generator: inout SeededGenerator
    ) throws -> Findings {
        let server = try MoodyServer(seed: seed)
        var plan = plan(folder, to: server.address)
        plan.backends[0].deadLetterFile = folder + "/dead"
        let queue = KilledQueue(plan, files: folder, label: "kills, server")
        try queue.kill(kills, atOnce: atOnce, &generator)
        return try queue.drain { _ in server.lines }
    }

    private static func plan(_ folder: String, to target: String) -> ChildPlan {
        ChildPlan(.emit, directory: folder + "/queue", backends: [BackendPlan("samples", to: target, seed: 0)])
    }

    /// A new directory for every fifty kills.
    private static func rounds(
        _ kills: Int,
        part: String,
        _ round: @Sendable @escaping (_ folder: String, UInt64, inout SeededGenerator) throws -> Findings
    ) throws -> Findings {
        inParallel((kills + killsPerQueue - 1) / killsPerQueue, atOnce: 3, part: part) { index in
            var generator = SeededGenerator(seed: TortureSettings.seed &+ UInt64(index) << 32)
            let scratch = try Scratch()
            return try round(scratch.path, generator.next(), &generator)
        }
    }
}
