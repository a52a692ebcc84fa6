import Foundation
import InstrumentTestKit
import QueueChildPlan
import QueueTorture

/// A queue of earlier processes, with samples in segments, in a spare that was not renamed, and in memory that
/// outlives a process.
struct FaultFixture: Sendable {
    /// The number of samples of each thread, which fill several segments.
    private static let samples = 200

    private let folder: String
    private let promises: [EmittingLine: Promise]

    /// A queue on which a system call fails.
    struct Queue {
        let folder: String
        private(set) var promises: [EmittingLine: Promise]
        var directory: String { folder + "/queue" }

        var backends: [BackendPlan] {
            var samples = BackendPlan("samples", to: folder + "/samples")
            samples.refusedMultiple = 50
            return [samples, BackendPlan("second", to: folder + "/second")]
        }

        /// Kills a process that emits, so that its staged samples stay in memory.
        mutating func leaveStaged() throws {
            var plan = ChildPlan(.emit, directory: directory, backends: backends)
            for index in plan.backends.indices { plan.backends[index].isOffline = true }
            (plan.run, plan.notes, plan.segmentSize) = (3, folder + "/notes-killed", 4096)
            try ChildNotes.create(folder + "/notes-killed")
            guard let notes = ChildNotes(path: folder + "/notes-killed") else {
                throw ChildProcess.Failure(description: "cannot map the notes in \(folder)")
            }
            let child = try ChildProcess(plan, name: folder + "/killed")
            try child.waitUntilReady(notes)
            while notes.returned.prefix(plan.threads).contains(where: { $0 < 10 }), child.isRunning { usleep(200) }
            child.kill()
            guard child.hasEnded() else { throw ChildProcess.Failure(description: "a killed process does not end") }
            promises.merge(notes.promises(run: 3, threads: plan.threads)) { $1 }
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
        // The process ends normally, because the copies would not have its staged samples.
        let running = try queue.start(&generator) { plan in
            (plan.count, plan.pause, plan.shutdown) = (Self.samples, 50, 0)
        }
        queue.settle(running, expecting: 0)
        promises = queue.promises
        if let failure = queue.findings.failures.first { throw ChildProcess.Failure(description: failure) }
        try Self.unname(folder + "/queue")
    }

    /// Gives the newest segment the name of a spare, as after a kill before the rename, or an older one: later segments
    /// may have their names by then.
    static func unname(_ directory: String, older: Int = 0) throws {
        let files = FileManager.default
        for queue in try files.contentsOfDirectory(atPath: directory) where queue.hasSuffix(".queue") {
            let segments = try files.contentsOfDirectory(atPath: "\(directory)/\(queue)").filter {
                $0.hasSuffix(".segment")
            }
            let spare = "\(directory)/\(queue)/spare"
            let content = files.contents(atPath: spare) ?? Data()
            guard !content.starts(with: Data("INSTRSEG".utf8)), let chosen = segments.sorted().dropLast(older).last
            else { continue }
            try? files.removeItem(atPath: spare)
            try files.moveItem(atPath: "\(directory)/\(queue)/\(chosen)", toPath: spare)
        }
    }

    func copy(to folder: String) throws -> Queue {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: self.folder + "/queue", toPath: folder + "/queue")
        var queue = Queue(folder: folder, promises: promises)
        try queue.leaveStaged()
        return queue
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
            // The store has reported why it could not be opened.
            findings.count("refused starts")
        } else if child.status != 0 {
            findings.fail("the process ended with \(child.status): \(child.errors)")
        }
        return findings
    }

    /// The last output of the process in which a call failed.
    var errors: String { String(decoding: output.suffix(300), as: UTF8.self) }

    /// The number of lines that the process in which a call failed has written.
    var diagnosticCount: Int { output.count { $0 == UInt8(ascii: "\n") } }

    private var output: Data { FileManager.default.contents(atPath: folder + "/child.err") ?? Data() }

    /// Delivers everything in a process in which no call fails, and checks it.
    ///
    /// - Parameter keepsOrder: whether the samples must arrive in their order.
    func drain(keepsOrder: Bool = true) throws -> Findings {
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
        var account = Account(label: "drain", promises: promises)
        account.keepsOrder = keepsOrder
        for backend in backends {
            guard let sums = report.ledgers[backend.name] else { continue }
            let (arrived, dead) = (Account.lines(of: backend.target), Account.lines(of: backend.deadLetterFile))
            findings += account.check(backend.name, arrived: arrived, dead: dead, sums: sums)
        }
        findings.count("refused", notes.refusedCount)
        return findings
    }
}
