import Foundation
import Instrument
import InstrumentTestKit
import QueueChildPlan

/// One process on a disk whose power is cut at some moments: each cut is a copy of the disk, and the process runs on.
struct PowerCut {
    struct Cut: Sendable {
        let copy: String
        let moment: Duration
        let promises: [EmittingLine: Promise]
        /// How much of each backend's file had been written.
        let sizes: [Int]
    }

    let disk: NestedDisk
    let label: String
    let plan: ChildPlan

    /// - Parameter synchronization: as configured; nil calls the store's `synchronize()` again and again.
    init(_ disk: NestedDisk, label: String, synchronization: ChildPlan.Synchronization?, isSecondOffline: Bool) {
        (self.disk, self.label) = (disk, label)
        // A run of this label has its own folder, so that several can share the files' folder.
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
        // Whatever the disk does meanwhile, a store that is configured to synchronize does so in the end.
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
        // Known before the power is cut.
        let promises = promises(notes)
        var sizes: [Int] = []
        let copy = try disk.cutPower(name: "\(label.filter { $0.isLetter || $0.isNumber })-\(number)") {
            sizes = plan.backends.map { backend in
                (try? FileManager.default.attributesOfItem(atPath: backend.target)[.size] as? Int) ?? 0
            }
        }
        return Cut(copy: copy, moment: moment, promises: promises, sizes: sizes)
    }

    /// What must survive a power cut from now on: before the first synchronization nothing, and every sample may be there.
    private func promises(_ notes: ChildNotes) -> [EmittingLine: Promise] {
        let numbers = notes.synchronized
        var promises: [EmittingLine: Promise] = [:]
        for thread in 0..<plan.threads {
            promises[EmittingLine(run: 1, thread: thread)] = notes.promise(thread, count: numbers[thread])
        }
        return promises
    }

    /// Opens the queue as it is after a cut, emits some more, delivers everything and checks it.
    func verify(_ cut: Cut) throws -> Findings {
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
                let arrived = before + Account.lines(of: backend.target)
                let dead = Account.lines(of: backend.deadLetterFile)
                findings += account.check(backend.name, arrived: arrived, dead: dead, sums: sums)
            }
            return findings
        }
    }
}
