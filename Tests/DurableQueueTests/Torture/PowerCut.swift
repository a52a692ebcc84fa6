import Foundation
import Instrument
import InstrumentTestKit
import QueueChildPlan

/// One process on a disk whose power is cut at some moments: each cut is a copy of the disk, and the process runs on.
struct PowerCut {
    /// What was known at a moment.
    private struct Observation {
        let time: ContinuousClock.Instant
        let beats: Int
        let returned: [Int]
        let synchronized: [Int]
        var total: Int { returned.reduce(0, +) }
    }

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
        var history: [Observation] = []
        var cuts: [Cut] = []
        for moment in moments.sorted() {
            repeat {
                let (returned, synchronized) = (notes.returned, notes.synchronized)
                history.append(
                    Observation(time: .now, beats: notes.beats, returned: returned, synchronized: synchronized)
                )
                usleep(10_000)
            } while start.duration(to: .now) < moment
            guard child.isRunning else {
                throw ChildProcess.Failure(description: "\(label): the process ended: \(child.errors)")
            }
            cuts.append(try cut(history, notes, at: moment, number: cuts.count))
        }
        return cuts
    }

    private func cut(_ history: [Observation], _ notes: ChildNotes, at moment: Duration, number: Int) throws -> Cut {
        var sizes: [Int] = []
        let copy = try disk.cutPower(name: "\(label.filter { $0.isLetter || $0.isNumber })-\(number)") {
            sizes = plan.backends.map { backend in
                (try? FileManager.default.attributesOfItem(atPath: backend.target)[.size] as? Int) ?? 0
            }
        }
        return Cut(copy: copy, moment: moment, promises: promises(history, notes), sizes: sizes)
    }

    /// What must survive a power cut at the end of a history.
    private func promises(_ history: [Observation], _ notes: ChildNotes) -> [EmittingLine: Promise] {
        // Before the first synchronization nothing is promised, and every sample may be there.
        let known = plan.synchronizes ? history.last?.synchronized : synchronizedByConfiguration(history)
        let numbers = known ?? [Int](repeating: 0, count: plan.threads)
        var promises: [EmittingLine: Promise] = [:]
        for thread in 0..<plan.threads {
            promises[EmittingLine(run: 1, thread: thread)] = notes.promise(thread, count: numbers[thread])
        }
        return promises
    }

    /// The numbers up to which the configuration promised synchronization at the end of a history.
    ///
    /// The store synchronizes in the background, and does not say when it has. A sample must be synchronized once the interval
    /// has passed, or as many samples came as the count says, and then a second and 50 beats of the process, which a busy
    /// machine delays as it delays the store.
    private func synchronizedByConfiguration(_ history: [Observation]) -> [Int]? {
        guard let now = history.last else { return nil }
        let (interval, count): (Duration, Int)
        switch plan.synchronization {
        case .never: return nil
        case .interval(let milliseconds): (interval, count) = (.milliseconds(milliseconds), 0)
        case .count(let limit): (interval, count) = (.zero, limit - 1)
        }
        let settled = history.last {
            $0.time.duration(to: now.time) >= interval + .seconds(1) && now.beats - $0.beats >= 50
        }
        return history.last { $0.total <= (settled?.total ?? 0) - count }?.returned
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
