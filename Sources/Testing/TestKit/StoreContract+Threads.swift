internal import Instrument

/// Several threads append, read, settle and query at the same time.
extension StoreContract {
    private static let backends: [BackendName] = ["one", "two"]
    private static let writerCount = 4
    private static let countPerWriter = 300

    /// The findings of the threads, and whether the writers have finished.
    private final class Findings: Sendable {
        struct State {
            var writersLeft = StoreContract.writerCount
            var records: [BackendName: [SampleRecord]] = [:]
            var violation: ContractViolation?
        }
        let state = Lock(State())
        var isWritten: Bool { state.withLock { $0.writersLeft == 0 } }
        func add(_ records: [SampleRecord], for backend: BackendName) {
            state.withLock { $0.records[backend, default: []] += records }
        }
        func note(_ violation: ContractViolation) {
            state.withLock { if $0.violation == nil { $0.violation = violation } }
        }
    }

    static func checkThreads(_ checked: CheckedStore) throws(ContractViolation) {
        let findings = Findings()
        for backend in backends { checked.store.attach(backend) }
        var bodies: [@Sendable () -> Void] = (0..<writerCount).map { writer in
            { write(writer, to: checked, findings) }
        }
        bodies += backends.map { backend in { drain(backend, of: checked, findings) } }
        bodies.append { watchLedgers(of: checked, findings) }
        bodies.append { visit(checked, findings) }
        Threads.run(bodies)
        let (violation, records) = findings.state.withLock { ($0.violation, $0.records) }
        if let violation { throw violation }
        for backend in backends { try requireAll(records[backend] ?? [], for: backend, in: checked) }
    }

    private static func write(_ writer: Int, to checked: CheckedStore, _ findings: Findings) {
        defer { findings.state.withLock { $0.writersLeft -= 1 } }
        let numbers = writer * countPerWriter..<(writer + 1) * countPerWriter
        for number in numbers {
            do throws(ContractViolation) { try checked.append([sample(number)]) } catch { return findings.note(error) }
        }
    }

    /// Reads and settles until all written samples are settled.
    private static func drain(_ backend: BackendName, of checked: CheckedStore, _ findings: Findings) {
        while true {
            let isWritten = findings.isWritten
            let records = checked.next(backend, count: 50)
            if records.isEmpty, isWritten { return }
            findings.add(records, for: backend)
            checked.settle(records.last, for: backend)
        }
    }

    private static func watchLedgers(of checked: CheckedStore, _ findings: Findings) {
        repeat {
            for backend in backends {
                let ledger = checked.store.ledger(of: backend)
                if ledger.emitted != ledger.settled + ledger.queued {
                    findings.note(ContractViolation(CheckedStore.ledger, "\(ledger) while samples were appended"))
                }
            }
        } while !findings.isWritten
    }

    /// Backends are attached and forgotten; each reads samples without gaps, from the point where it was attached.
    private static func visit(_ checked: CheckedStore, _ findings: Findings) {
        var number = 0
        repeat {
            number += 1
            let name = BackendName("visitor \(number)")
            checked.store.attach(name)
            let numbers = checked.next(name, count: 20).map(\.sequence)
            if zip(numbers, numbers.dropFirst()).contains(where: { $1 != $0 + 1 }) {
                findings.note(ContractViolation("numbers have no gaps", "\(numbers) while samples were appended"))
            }
            checked.store.forget(name)
        } while !findings.isWritten
    }

    private static func requireAll(
        _ records: [SampleRecord],
        for backend: BackendName,
        in checked: CheckedStore
    ) throws(ContractViolation) {
        let promise =
            "samples that several threads append at the same time are all there, each once, in each thread's order"
        let numbers = records.compactMap { $0.sample.attributes[AttributeKey<Int>("number")] }
        let total = writerCount * countPerWriter
        try require(
            numbers.count == total && Set(numbers).count == total,
            promise,
            "\(backend) got \(numbers.count) samples, \(Set(numbers).count) different ones, of \(total)"
        )
        for writer in 0..<writerCount {
            let own = numbers.filter { $0 / countPerWriter == writer }
            try require(own == own.sorted(), promise, "the samples of thread \(writer) are out of order")
        }
        let sequence = records.map(\.sequence)
        try require(sequence == sequence.sorted(), CheckedStore.order, "numbers are out of order")
        try require(Set(records.map(\.id)).count == total, "each sample has a unique identifier", "twins")
        try checked.requireLedger(backend, emitted: total, acknowledged: total, queued: 0)
    }
}
