import Foundation
import InstrumentTestKit
import QueueChildPlan

/// A queue that a killed process left, with samples in segments and in a spare that has no name yet.
struct FaultFixture: Sendable {
    /// Samples of each thread: they fill some segments.
    private static let samples = 200

    private let folder: String
    private let promises: [EmittingLine: Promise]

    /// A queue on which a system call fails.
    struct Queue {
        let folder: String
        let promises: [EmittingLine: Promise]
        var directory: String { folder + "/queue" }

        private var backends: [BackendPlan] {
            var samples = BackendPlan("samples", to: folder + "/samples")
            samples.refusedMultiple = 50
            return [samples, BackendPlan("second", to: folder + "/second")]
        }
    }

    init(_ folder: String, _ generator: inout SeededGenerator) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var backends = [BackendPlan("samples", to: folder + "/samples"), BackendPlan("second", to: folder + "/second")]
        for index in backends.indices { backends[index].isOffline = true }
        var plan = ChildPlan(.emit, directory: folder + "/queue", backends: backends)
        plan.segmentSize = 4096
        let queue = KilledQueue(plan, files: folder, label: "the fixture")
        let running = try queue.start(&generator) { $0.pause = 50 }
        while running.notes.returned.prefix(plan.threads).contains(where: { $0 < Self.samples }),
            running.process.isRunning
        {
            usleep(1000)
        }
        running.process.kill()
        queue.settle(running)
        promises = queue.promises
        if let failure = queue.findings.failures.first { throw ChildProcess.Failure(description: failure) }
        try Self.unname(folder + "/queue")
    }

    /// Gives the newest segment the name of a spare, as if the process had been killed before it named the segment.
    private static func unname(_ directory: String) throws {
        let files = FileManager.default
        for queue in try files.contentsOfDirectory(atPath: directory) where queue.hasSuffix(".queue") {
            let segments = try files.contentsOfDirectory(atPath: "\(directory)/\(queue)").filter {
                $0.hasSuffix(".segment")
            }
            let spare = "\(directory)/\(queue)/spare"
            let content = files.contents(atPath: spare) ?? Data()
            guard !content.starts(with: Data("INSTRSEG".utf8)), let newest = segments.max() else { continue }
            try? files.removeItem(atPath: spare)
            try files.moveItem(atPath: "\(directory)/\(queue)/\(newest)", toPath: spare)
        }
    }

    func copy(to folder: String) throws -> Queue {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: self.folder + "/queue", toPath: folder + "/queue")
        return Queue(folder: folder, promises: promises)
    }
}

extension FaultFixture.Queue {
    /// Runs a process that emits, delivers and ends; with an environment in which calls fail.
    func run(environment: [String: String]) throws -> Findings {
        var plan = ChildPlan(.emit, directory: directory, backends: backends)
        (plan.run, plan.count, plan.pause, plan.notes) = (2, 80, 20, folder + "/notes")
        plan.segmentSize = 4096
        try ChildNotes.create(folder + "/notes")
        let child = try ChildProcess(plan, name: folder + "/child", environment: environment)
        var findings = Findings()
        if !child.hasEnded(within: 120) {
            child.kill()
            findings.fail("the process hangs: \(child.errors)")
            _ = child.hasEnded()
        } else if child.status == 2 {
            // The store said why it could not be opened.
            findings.count("refused starts")
        } else if child.status != 0 {
            findings.fail("the process ended with \(child.status): \(child.errors)")
        }
        return findings
    }

    /// Delivers everything in a process in which no call fails, and checks it.
    func drain() throws -> Findings {
        let report = try ChildProcess.drain(
            ChildPlan(.drain, directory: directory, backends: backends),
            name: folder + "/drain"
        )
        var findings = Findings()
        if !report.isEmpty { findings.fail("the queue is not empty after a drain: \(report)") }
        guard let notes = ChildNotes(path: folder + "/notes") else {
            throw ChildProcess.Failure(description: "cannot map the notes in \(folder)")
        }
        let promises = promises.merging(notes.promises(run: 2, threads: 2)) { $1 }
        let account = Account(label: "drain", promises: promises)
        for backend in backends {
            guard let sums = report.ledgers[backend.name] else { continue }
            let (arrived, dead) = (Account.lines(of: backend.target), Account.lines(of: backend.deadLetterFile))
            findings += account.check(backend.name, arrived: arrived, dead: dead, sums: sums)
        }
        findings.count("refused", notes.refusedCount)
        return findings
    }
}
