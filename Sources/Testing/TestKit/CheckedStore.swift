internal import Instrument

/// A store under test, with the checks that the contract repeats.
struct CheckedStore: Sendable {
    static let exactness = "a sample comes back exactly as it was appended"
    static let order = "samples come back in the order in which they were appended"
    static let ledger = "the ledger adds up: emitted = acknowledged + queued + dead + dropped"

    let store: any SampleStore

    init(_ store: any SampleStore) { self.store = store }

    /// Appends samples; returns their size.
    @discardableResult
    func append(_ samples: [Sample]) throws(ContractViolation) -> Int {
        do throws(QueueError) { return try store.append(samples) } catch {
            throw ContractViolation("a store that is not full accepts samples", "\(error)")
        }
    }

    func next(_ backend: BackendName = "one", count: Int = .max, bytes: Int = .max) -> [SampleRecord] {
        store.next(for: backend, maxCount: count, maxBytes: bytes)
    }

    func settle(_ record: SampleRecord?, for backend: BackendName = "one", dead: [UInt64: String] = [:]) {
        if let record { store.settle(backend, through: record.sequence, dead: dead) }
    }

    func hold() throws(ContractViolation) { _ = try working { () throws(QueueError) in try store.hold() } }

    func release() throws(ContractViolation) { _ = try working { () throws(QueueError) in try store.release() } }

    func eraseHeld() throws(ContractViolation) -> Int {
        try working { () throws(QueueError) in try store.eraseHeld() }
    }

    func erase(_ isErased: (SampleRecord) -> Bool) throws(ContractViolation) -> Int {
        try working { () throws(QueueError) in try store.erase(where: isErased) }
    }

    private func working<Value>(_ body: () throws(QueueError) -> Value) throws(ContractViolation) -> Value {
        do throws(QueueError) { return try body() } catch {
            throw ContractViolation("a working store holds, releases and erases", "\(error)")
        }
    }

    /// Requires that these samples are next, all of them, exact and in order.
    func requireNext(
        _ expected: [Sample],
        for backend: BackendName = "one",
        _ promise: String = CheckedStore.order
    ) throws(ContractViolation) {
        let found = next(backend).map(\.sample)
        if let difference = ExactDifference.between(found, expected) { throw ContractViolation(promise, difference) }
    }

    /// Requires that the ledger adds up, and that a backlog agrees with it.
    func requireLedger(
        _ backend: BackendName = "one",
        emitted: Int,
        acknowledged: Int = 0,
        queued: Int,
        dead: Int = 0,
        erased: Int = 0
    ) throws(ContractViolation) {
        let ledger = store.ledger(of: backend)
        let found = [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.drops[.erased] ?? 0]
        let expected = [emitted, acknowledged, queued, dead, erased]
        try require(
            found == expected && ledger.dropped == erased,
            Self.ledger,
            "emitted, acknowledged, queued, dead, erased of \(backend) are \(found) instead of \(expected), dropped "
                + "\(ledger.dropped)"
        )
        let backlog = store.backlog(of: backend)
        try require(
            backlog.count == queued && (backlog.bytes == 0) == (queued == 0),
            "the backlog counts the samples that wait",
            "\(backlog.count) samples of \(backlog.bytes) bytes where \(queued) wait"
        )
    }
}
