import Foundation
import Instrument
import InstrumentTestKit
import QueueChildPlan
import QueueTorture

/// One process on a disk whose power is cut at some moments: each cut is a copy of the disk, and the process continues.
struct PowerCut {
    struct Cut: Sendable {
        let copy: String
        let moment: Duration
        let promises: [EmittingLine: Promise]
        /// The written size of each backend's file.
        let sizes: [Int]
        /// The number of samples that were emitted before, at most.
        let emitted: Int
    }

    let disk: NestedDisk
    let label: String
    let plan: ChildPlan

    /// - Parameter synchronization: the configured synchronization; nil calls the store's `synchronize()` repeatedly.
    init(_ disk: NestedDisk, label: String, synchronization: ChildPlan.Synchronization?, isSecondOffline: Bool) {
        (self.disk, self.label) = (disk, label)
        // Each run has a separate folder, named by its label.
        let files = disk.files + "/" + label.filter { $0.isLetter || $0.isNumber }
        var samples = BackendPlan("samples", to: files + "-samples", seed: 1)
        (samples.slowness, samples.refusedMultiple) = (200_000, 7)
        var second = BackendPlan("second", to: files + "-second", seed: 2)
        (second.slowness, second.isOffline) = (100_000, isSecondOffline)
        var plan = ChildPlan(.emit, directory: disk.path + "/queue", backends: [samples, second])
        (plan.synchronization, plan.synchronizes) = (synchronization ?? .never, synchronization == nil)
        (plan.pause, plan.run, plan.notes) = (10_000, 1, files + "-notes")
        self.plan = plan
    }

    /// Runs the process, and cuts the power at the moments.
    func cuts(at moments: [Duration], _ generator: inout SeededGenerator) throws -> [Cut] {
        guard let path = plan.notes else { return [] }
        var plan = plan
        for index in plan.backends.indices { plan.backends[index].seed = generator.next() }
        try ChildNotes.create(path)
        guard let notes = ChildNotes(path: path) else { return [] }
        let child = try ChildProcess(plan, name: path + "-child", isRebooted: true)
        defer {
            child.kill()
            _ = child.hasEnded()
        }
        try child.waitUntilReady(notes)
        let start = ContinuousClock.now
        var cuts: [Cut] = []
        for moment in moments.sorted() {
            while start.duration(to: .now) < moment { usleep(10_000) }
            try requireRunning(child)
            cuts.append(try cut(notes, at: moment, number: cuts.count))
        }
        // A store that is configured to synchronize does so at the end, independent of the disk.
        while plan.isSynchronizing, notes.synchronized.allSatisfy({ $0 == 0 }) {
            try requireRunning(child)
            usleep(10_000)
        }
        return cuts
    }

    private func requireRunning(_ child: ChildProcess) throws {
        if !child.isRunning {
            throw ChildProcess.Failure(description: "\(label): the process ended: \(child.errors)")
        }
    }

    private func cut(_ notes: ChildNotes, at moment: Duration, number: Int) throws -> Cut {
        // Read before the power cut.
        let promises = promises(notes)
        var (sizes, emitted) = ([Int](), 0)
        let copy = try disk.cutPower(name: "\(label.filter { $0.isLetter || $0.isNumber })-\(number)") {
            sizes = plan.backends.map { backend in
                (try? FileManager.default.attributesOfItem(atPath: backend.target)[.size] as? Int) ?? 0
            }
            // The emit of each thread may be under way.
            emitted = notes.returned.prefix(plan.threads).reduce(0) { $0 + $1 + 1 }
        }
        return Cut(copy: copy, moment: moment, promises: promises, sizes: sizes, emitted: emitted)
    }

    /// The samples that must survive a power cut from now on: none before the first synchronization.
    private func promises(_ notes: ChildNotes) -> [EmittingLine: Promise] {
        let numbers = notes.synchronized
        var promises: [EmittingLine: Promise] = [:]
        for thread in 0..<plan.threads {
            promises[EmittingLine(run: 1, thread: thread)] = notes.promise(thread, count: numbers[thread])
        }
        return promises
    }

    /// Opens the queue as it is after a cut, emits some more, delivers everything and checks it. Where failures go to a
    /// file, the disk of a cut that fails stays beside it, as it was before the queue was opened.
    func verify(_ cut: Cut) throws -> Findings {
        let image = TortureSettings.failureFile.map { "\($0)-\(UUID().uuidString.prefix(8)).image" }
        if let image { try Shell.run("cp", "--sparse=always", cut.copy, image) }
        let findings = try open(cut)
        if let image {
            if findings.failures.isEmpty {
                try FileManager.default.removeItem(atPath: image)
            } else {
                print("torture: \(image) has the disk of: \(findings.failures.joined(separator: "; "))")
            }
        }
        return findings
    }

    private func open(_ cut: Cut) throws -> Findings {
        let label = "\(label), power cut after \(cut.moment)"
        return try disk.withMounted(copy: cut.copy) { mount in
            var drain = plan
            (drain.task, drain.directory, drain.run, drain.threads, drain.count) = (.drain, mount + "/queue", 2, 1, 30)
            (drain.pause, drain.notes) = (0, nil)
            for index in drain.backends.indices {
                drain.backends[index].target = "\(cut.copy).\(index)"
                drain.backends[index].deadLetterFile = "\(cut.copy).\(index).dead"
                (drain.backends[index].seed, drain.backends[index].slowness) = (nil, 0)
                drain.backends[index].isOffline = false
            }
            let report = try ChildProcess.drain(drain, name: cut.copy + ".drain", isRebooted: true)
            var account = Account(label: label, promises: cut.promises, rest: .any)
            account.promises[EmittingLine(run: 2, thread: 0)] = Promise(count: 30)
            var findings = Findings()
            findings.count("cuts")
            findings.count("promised", cut.promises.values.reduce(0) { $0 + $1.count })
            if !report.isEmpty { findings.fail("\(label): the queue is not empty after a drain") }
            for (index, backend) in drain.backends.enumerated() {
                guard let sums = report.ledgers[backend.name] else { continue }
                let before = Account.lines(of: plan.backends[index].target, prefix: cut.sizes[index])
                let after = Account.lines(of: backend.target)
                let dead = Account.lines(of: backend.deadLetterFile)
                // The cut may take samples that no one has synchronized, although a backend has them and although a
                // later segment has a name already. The queue cannot know that they have arrived, so it counts them as
                // corrupt.
                let left = cut.emitted - Account.count(of: 1, in: after + dead)
                findings += account.check(
                    backend.name,
                    arrived: before + after,
                    dead: dead,
                    sums: sums,
                    mostCorrupt: max(0, left)
                )
            }
            return findings
        }
    }
}
