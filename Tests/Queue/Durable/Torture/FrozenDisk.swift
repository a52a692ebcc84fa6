import Foundation
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture

/// A process that emits on a disk that stops for some seconds, continues, and stops again until it is killed.
struct FrozenDisk: CustomStringConvertible {
    let level: NestedDisk.Level
    let synchronization: ChildPlan.Synchronization
    let threads: Int

    /// The number of emits of each thread that must return while the disk is frozen: more than fit into a segment and
    /// its spare.
    private static let required = 3000
    /// The duration of the freeze in seconds: longer than a busy machine delays a thread.
    private static var freeze: Int { TortureSettings.isLong ? 6 : 3 }

    var description: String {
        "\(level == .inner ? "frozen file system" : "frozen block device"), sync \(synchronization), \(threads) threads"
    }

    func run(on disk: NestedDisk) throws -> Findings {
        var generator = SeededGenerator(seed: TortureSettings.seed)
        var samples = BackendPlan("samples", to: disk.files + "/samples", seed: 0)
        samples.refusedMultiple = 100
        var plan = ChildPlan(.emit, directory: disk.path + "/queue", backends: [samples])
        (plan.threads, plan.synchronization, plan.pause) = (threads, synchronization, 200)
        plan.largeMultiple = 1000
        let queue = KilledQueue(plan, files: disk.files, label: "\(self)")
        let running = try queue.start(&generator)
        defer { running.process.kill() }
        try running.process.waitUntilReady(running.notes)
        _ = emits(500, of: running, within: 300)
        var findings = try measure(running, disk)
        // The process can end only after the disk responds.
        try disk.freeze(level)
        do {
            defer { try? disk.thaw(level) }
            _ = emits(200, of: running, within: 1)
            running.process.kill()
            usleep(100_000)
        }
        queue.settle(running)
        findings.count("kills")
        findings += try queue.drain()
        return findings
    }

    /// Freezes the disk, and checks that emits return.
    private func measure(_ running: KilledQueue.Running, _ disk: NestedDisk) throws -> Findings {
        var findings = Findings()
        findings.count("freezes")
        let times = EmitTimes(running.notes)
        let hasGoneOn: Bool
        try disk.freeze(level)
        do {
            defer { try? disk.thaw(level) }
            let start = ContinuousClock.now
            hasGoneOn = emits(Self.required, of: running, within: TortureSettings.isLong ? 20 : 8)
            while start.duration(to: .now) < .seconds(Self.freeze) { usleep(10_000) }
        }
        // An emit that waited for the disk is measured once it returns.
        _ = emits(100, of: running, within: 300)
        let (measured, longest) = (times.describe(running.notes), running.notes.longest.nanoseconds)
        print("torture: \(self): \(measured)")
        if !hasGoneOn { findings.fail("\(self): emits wait for the disk: \(measured)") }
        if longest > Self.freeze * 500_000_000 {
            findings.fail("\(self): an emit waited for half of the freeze: \(measured)")
        }
        return findings
    }

    /// Waits until each thread has emitted this number of further samples. Returns false after a time limit.
    private func emits(_ count: Int, of running: KilledQueue.Running, within seconds: Int) -> Bool {
        let goal = running.notes.returned.prefix(threads).map { $0 + count }
        let start = ContinuousClock.now
        while zip(running.notes.returned, goal).contains(where: { $0 < $1 }) {
            if start.duration(to: .now) > .seconds(seconds) || !running.process.isRunning { return false }
            usleep(2000)
        }
        return true
    }
}

/// A process on a disk on which the allocation of each new file takes two seconds.
struct SlowAllocation {
    private static let delay = 2

    func run() throws -> Findings {
        let scratch = try Scratch()
        let shim = try FaultShim(in: scratch.path)
        let fault = FaultShim.Fault(call: "allocate", at: 3, times: .max, delay: Self.delay * 1_000_000)
        let environment = try shim.environment(
            directory: scratch.path + "/queue",
            counts: scratch.path + "/counts",
            fault
        )
        var plan = ChildPlan(
            .emit,
            directory: scratch.path + "/queue",
            backends: [BackendPlan("samples", to: scratch.path + "/samples", seed: 0)]
        )
        plan.pause = 500
        let queue = KilledQueue(plan, files: scratch.path, label: "slow allocation", environment: environment)
        var generator = SeededGenerator(seed: TortureSettings.seed)
        let running = try queue.start(&generator)
        defer { running.process.kill() }
        try running.process.waitUntilReady(running.notes)
        let times = EmitTimes(running.notes)
        while FaultShim.injected(scratch.path + "/counts") < 3, running.process.isRunning { usleep(10_000) }
        let (measured, longest) = (times.describe(running.notes), running.notes.longest.nanoseconds)
        print("torture: slow allocation: \(measured)")
        running.process.kill()
        queue.settle(running)
        var findings = try queue.drain()
        if longest > Self.delay * 500_000_000 {
            findings.fail("an emit waited for blocks: \(measured)")
        }
        return findings
    }
}
