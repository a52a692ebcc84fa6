import Foundation
package import InstrumentTestKit
package import QueueChildPlan

/// A queue whose processes are killed repeatedly.
package final class KilledQueue {
    /// The plan of each process, without the run and the notes.
    package let plan: ChildPlan
    package let label: String
    private let files: String
    private let environment: [String: String]
    package private(set) var promises: [EmittingLine: Promise] = [:]
    package private(set) var findings = Findings()
    private var run = 0

    /// - Parameter files: a directory outside the disk under test.
    package init(_ plan: ChildPlan, files: String, label: String, environment: [String: String] = [:]) {
        (self.plan, self.files, self.label, self.environment) = (plan, files, label, environment)
    }

    /// A process that emits, and its notes.
    package struct Running {
        package let process: ChildProcess
        package let notes: ChildNotes
        package let run: Int
    }

    /// Starts a process. Each process has different random faults.
    package func start(_ generator: inout SeededGenerator, change: (inout ChildPlan) -> Void = { _ in }) throws
        -> Running
    {
        run += 1
        var plan = plan
        (plan.run, plan.notes) = (run, files + "/notes-\(run)")
        for index in plan.backends.indices where plan.backends[index].seed != nil {
            plan.backends[index].seed = generator.next()
        }
        change(&plan)
        try ChildNotes.create(files + "/notes-\(run)")
        guard let notes = ChildNotes(path: files + "/notes-\(run)") else {
            throw ChildProcess.Failure(description: "cannot map the notes in \(files)")
        }
        return Running(
            process: try ChildProcess(plan, name: files + "/child-\(run)", environment: environment),
            notes: notes,
            run: run
        )
    }

    /// Records the obligations of a process that was killed or has ended.
    package func settle(_ running: Running, expecting status: Int32 = -SIGKILL) {
        if !running.process.hasEnded() {
            findings.fail("\(label), run \(running.run): the process does not end: \(running.process.errors)")
        } else if running.process.status != status {
            let ending = "the process ended with \(running.process.status)"
            findings.fail("\(label), run \(running.run): \(ending): \(running.process.errors)")
        }
        promises.merge(running.notes.promises(run: running.run, threads: plan.threads)) { $1 }
        findings.count("refused", running.notes.refusedCount)
    }

    /// Starts processes, `atOnce` at a time, and kills each after up to a tenth of a second: one in four counted from
    /// its start, the others from their first emit.
    ///
    /// - Parameter pauses: the delays between two emits of a thread, in microseconds, of which each process has one.
    package func kill(
        _ count: Int,
        atOnce: Int = 1,
        pauses: [Int] = [0, 0, 100, 1000],
        _ generator: inout SeededGenerator
    ) throws {
        // A server that answers within 100 ms or not at all would never take large samples on a busy machine.
        let takesLarge = !plan.backends.contains { $0.target.hasPrefix("http:") }
        for _ in stride(from: 0, to: count, by: atOnce) {
            let pause = pauses.randomElement(using: &generator) ?? 0
            let largeMultiple = takesLarge && pause > 0 && Bool.random(using: &generator) ? 100 : nil
            let running = try (0..<atOnce).map { _ in
                try start(&generator) { ($0.pause, $0.largeMultiple) = (pause, largeMultiple) }
            }
            if Int.random(in: 0..<4, using: &generator) > 0 {
                for running in running { try running.process.waitUntilReady(running.notes) }
            }
            usleep(UInt32.random(in: 1_000...100_000, using: &generator))
            for running in running {
                running.process.kill()
                settle(running)
                findings.count("kills")
            }
        }
    }

    /// Delivers the remaining samples without failures, and checks every backend.
    ///
    /// - Parameter arrived: the lines that arrived at a backend; by default those of its file.
    package func drain(arrived: (BackendPlan) -> [[UInt8]] = { Account.lines(of: $0.target) }) throws -> Findings {
        check(try deliverRest(), arrived: arrived)
    }

    /// Delivers the remaining samples without failures.
    package func deliverRest() throws -> DrainReport {
        var plan = plan
        (plan.task, plan.count) = (.drain, nil)
        for index in plan.backends.indices {
            (plan.backends[index].seed, plan.backends[index].slowness) = (nil, 0)
            plan.backends[index].isOffline = false
        }
        return try ChildProcess.drain(plan, name: files + "/drain")
    }

    /// Checks every backend after ``deliverRest()``.
    package func check(_ report: DrainReport, arrived: (BackendPlan) -> [[UInt8]]) -> Findings {
        var findings = findings
        if !report.isEmpty { findings.fail("\(label): the queue is not empty after a drain: \(report)") }
        let account = Account(label: label, promises: promises)
        for backend in plan.backends {
            guard let sums = report.ledgers[backend.name] else { continue }
            let dead = Account.lines(of: backend.deadLetterFile)
            findings += account.check(backend.name, arrived: arrived(backend), dead: dead, sums: sums)
        }
        return findings
    }
}
