import Foundation
package import QueueChildPlan

/// A thread of a child process.
package struct EmittingLine: Hashable, Sendable, CustomStringConvertible {
    package var run: Int
    package var thread: Int

    package init(run: Int, thread: Int) { (self.run, self.thread) = (run, thread) }

    package var description: String { "run \(run), thread \(thread)" }
}

/// The queue's obligations for the samples of one thread.
package struct Promise: Sendable {
    /// The number of the last sample that must not be lost.
    package var count: Int
    /// Samples that the queue has refused.
    package var refused: Set<Int> = []
    /// Samples without a result, which may be stored or not.
    package var unsure: Set<Int> = []

    package init(count: Int, refused: Set<Int> = [], unsure: Set<Int> = []) {
        (self.count, self.refused, self.unsure) = (count, refused, unsure)
    }
}

/// Compares the samples that a backend has received with the queue's obligations.
package struct Account: Sendable {
    package enum Rest: Sendable {
        /// After the last obligation, at most one sample may be stored: the one whose emit had not returned.
        case atMostOne
        /// After the last obligation, any sample may be stored or not, because it was not synchronized.
        case any
    }

    package let label: String
    package var promises: [EmittingLine: Promise]
    package var rest = Rest.atMostOne
    /// Whether samples of a thread arrive in their order, each counted once. False where a file could not be opened:
    /// its samples follow later, and of samples that were staged nobody knows whether the file has them.
    package var keepsOrder = true

    package init(label: String, promises: [EmittingLine: Promise], rest: Rest = .atMostOne, keepsOrder: Bool = true) {
        (self.label, self.promises, self.rest, self.keepsOrder) = (label, promises, rest, keepsOrder)
    }

    /// Checks one backend.
    ///
    /// - Parameters:
    ///   - arrived: lines in their order of arrival, including duplicates.
    ///   - dead: lines of dead letters.
    ///   - sums: the ledger after the drain.
    ///   - mostCorrupt: the largest number of samples that may count as corrupt; by default those that are missing
    ///     before one that is there.
    package func check(
        _ backend: String,
        arrived: [[UInt8]],
        dead: [[UInt8]],
        sums: DrainReport.Sums,
        mostCorrupt: Int? = nil
    ) -> Findings {
        var findings = Findings()
        let label = "\(label), \(backend)"
        let (known, numbers) = read(arrived, label, &findings)
        let (_, deadNumbers) = read(dead, "\(label), dead letters", &findings)
        var gaps = 0
        for (line, promise) in promises {
            let (all, gone) = (numbers[line] ?? [], deadNumbers[line] ?? [])
            gaps += check(promise, all, gone, "\(label), \(line)", &findings)
        }
        for line in numbers.keys where promises[line] == nil { findings.fail("\(label): unknown \(line)") }
        let settled = sums.acknowledged + sums.queued + sums.dead + sums.drops.values.reduce(0, +)
        if sums.emitted != settled { findings.fail("\(label): the ledger does not add up: \(sums)") }
        let corrupt = sums.drops["corrupt"] ?? 0
        if corrupt > mostCorrupt ?? gaps {
            findings.fail(
                "\(label): \(gaps) samples are missing, at most \(mostCorrupt ?? gaps) are damaged, and \(corrupt) count as corrupt"
            )
        }
        if sums.drops.contains(where: { $0.value > 0 && $0.key != "refused" && $0.key != "corrupt" }) {
            findings.fail("\(label): samples were dropped: \(sums)")
        }
        if keepsOrder, rest == .atMostOne, sums.acknowledged != known || sums.dead != dead.count {
            findings.fail(
                "\(label): \(known) samples arrived and \(dead.count) are dead letters, the ledger says \(sums)"
            )
        }
        findings.count("samples", known + dead.count)
        findings.count("repeated", arrived.count - known)
        findings.count("dead letters", dead.count)
        if corrupt > 0 { findings.count("counted as corrupt", corrupt) }
        return findings
    }

    /// Checks one thread. Returns the number of missing samples before the last stored one.
    private func check(
        _ promise: Promise,
        _ all: [Int],
        _ gone: [Int],
        _ label: String,
        _ findings: inout Findings
    ) -> Int {
        if keepsOrder, zip(all, all.dropFirst()).contains(where: { $0 >= $1 }) {
            findings.fail(
                "\(label): samples arrived in another order than they were emitted in, or under two identifiers"
            )
        }
        let kept = Set(all).union(gone)
        if kept.count != all.count + gone.count { findings.fail("\(label): samples arrived and are dead letters") }
        let lost = (1...max(1, promise.count)).filter { $0 <= promise.count && !kept.contains($0) }
            .filter { !promise.refused.contains($0) && !promise.unsure.contains($0) }
        if let first = lost.first, let last = lost.last {
            findings.fail("\(label): \(lost.count) of \(promise.count) samples are lost, from \(first) to \(last)")
        }
        let refusedAndKept = promise.refused.intersection(kept)
        if !refusedAndKept.isEmpty {
            findings.fail("\(label): \(refusedAndKept.count) samples were refused and arrived nevertheless")
        }
        if rest == .atMostOne, let last = kept.max(), last > promise.count + 1 {
            findings.fail("\(label): \(promise.count) emits returned, and sample \(last) arrived")
        }
        return (kept.max() ?? 0) - kept.count
    }

    /// Counts distinct samples, and returns the numbers of each thread in the order of their first arrival.
    private func read(
        _ lines: [[UInt8]],
        _ label: String,
        _ findings: inout Findings
    ) -> (known: Int, numbers: [EmittingLine: [Int]]) {
        var known: [String: [UInt8]] = [:]
        var numbers: [EmittingLine: [Int]] = [:]
        var shared: [String] = []
        for bytes in lines {
            guard let scan = LineScan(bytes) else {
                findings.fail("\(label): a line is no sample: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
                continue
            }
            if let first = known.updateValue(bytes, forKey: scan.id) {
                if first != bytes { shared.append(scan.id) }
            } else {
                numbers[scan.line, default: []].append(scan.number)
            }
        }
        if let id = shared.first {
            findings.fail("\(label): \(shared.count) identifiers, as \(id), belong to two samples")
        }
        return (known.count, numbers)
    }

    /// The number of distinct samples of a run in lines.
    package static func count(of run: Int, in lines: [[UInt8]]) -> Int {
        Set(lines.compactMap { LineScan($0) }.filter { $0.line.run == run }.map(\.id)).count
    }

    /// The lines of a file; none if there is no such file.
    package static func lines(of path: String, prefix: Int = .max) -> [[UInt8]] {
        let contents = FileManager.default.contents(atPath: path) ?? Data()
        return contents.prefix(prefix).split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }
}

extension ChildNotes {
    /// The obligations of a process that was killed or has ended.
    package func promises(run: Int, threads: Int) -> [EmittingLine: Promise] {
        let returned = returned
        var promises: [EmittingLine: Promise] = [:]
        for thread in 0..<threads {
            promises[EmittingLine(run: run, thread: thread)] = promise(thread, count: returned[thread])
        }
        return promises
    }

    /// The obligations of a process for the samples of one thread up to a number.
    package func promise(_ thread: Int, count: Int) -> Promise {
        // Too many exceptions to record: any sample may be missing.
        guard let known = exceptions(line: thread) else { return Promise(count: count, unsure: Set(0...count)) }
        return Promise(count: count, refused: known.refused, unsure: known.unsure)
    }
}
