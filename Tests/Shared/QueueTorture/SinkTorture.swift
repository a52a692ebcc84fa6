package import InstrumentTestKit
import LoopbackServers
import QueueChildPlan

/// Kills processes that deliver to a server while the server fails, then delivers the rest and compares what the server
/// has with what the queue promised.
package enum SinkTorture {
    /// Runs the kills and the check. Blocks its thread.
    ///
    /// - Parameters:
    ///   - target: the address of the server, as a `BackendPlan` has it.
    ///   - kills: the number of kills.
    ///   - disturb: makes the server fail; called before each kill.
    ///   - calm: ends every failure of the server.
    ///   - arrived: the samples that the server has, as JSON lines in their order.
    package static func run(
        target: String,
        kills: Int,
        label: String,
        disturb: (inout SeededGenerator) throws -> Void,
        calm: () throws -> Void,
        arrived: () async throws -> [[UInt8]]
    ) async throws -> Findings {
        let scratch = try Scratch()
        var generator = SeededGenerator(seed: TortureSettings.seed)
        var backend = BackendPlan("sink", to: target)
        backend.deadLetterFile = scratch.path + "/dead"
        let plan = ChildPlan(.emit, directory: scratch.path + "/queue", backends: [backend])
        let queue = KilledQueue(plan, files: scratch.path, label: label)
        for _ in 0..<kills {
            try disturb(&generator)
            // A server of a test stores fewer samples per second than a thread emits.
            try queue.kill(1, pauses: [500, 1000, 2000], &generator)
        }
        try calm()
        let report = try queue.deliverRest()
        let lines = try await arrived()
        return queue.check(report) { _ in lines }
    }
}
