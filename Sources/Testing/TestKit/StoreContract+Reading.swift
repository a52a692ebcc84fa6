internal import Instrument

/// Reading what waits changes nothing.
extension StoreContract {
    private static let completeness = "reading gives every sample that waits, exactly as a batch would, in pages"
    private static let harmlessness = "reading leases no batch and moves no place"

    static func checkReading(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        checked.store.attach("two")
        try checked.append(samples(0..<2_500))
        try requireRead(samples(0..<2_500), for: "one", in: checked)
        let backlog = checked.store.backlog(of: "one").count
        try require(backlog == 2_500, harmlessness, "\(backlog) of 2500 samples wait after reading")
        // A batch would not include samples that were appended after its lease.
        try checked.append([sample(2_500)])
        let records = checked.next()
        try require(records.count == 2_501, harmlessness, "a batch of \(records.count) instead of 2501 samples")
        let read = Array(read("two", in: checked).joined())
        try require(read == records, completeness, "other numbers or identifiers than in a batch")
        try checked.requireLedger("two", emitted: 2_501, queued: 2_501)
    }

    static func checkReadingPart(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        try checked.append(samples(0..<1_200))
        let first = checked.next(count: 10)
        guard first.count == 10 else {
            throw ContractViolation("a batch is as large as allowed", "\(first.count) of 10")
        }
        checked.settle(first.last, dead: [first[3].sequence: "no"])
        // Leased samples are part of the queue.
        let leased = checked.next(count: 5)
        try requireRead(samples(10..<1_200), for: "one", in: checked)
        let again = checked.next()
        try require(again == leased, harmlessness, "another batch after reading")
        _ = try checked.erase { leased.dropFirst().first?.id == $0.id }
        try checked.hold()
        try checked.append([sample(1_200)])
        try requireRead(samples([10] + Array(12...1_200)), for: "one", in: checked)
        try requireRead([], for: "nobody", in: checked)
        var pages = 0
        checked.store.readQueued(for: "one") { _ in
            pages += 1
            return false
        }
        try require(pages == 1, "reading stops when its reader returns false", "\(pages) pages")
    }

    private static func read(_ backend: BackendName, in checked: CheckedStore) -> [[SampleRecord]] {
        var pages: [[SampleRecord]] = []
        checked.store.readQueued(for: backend) { page in
            pages.append(page)
            return true
        }
        return pages
    }

    private static func requireRead(
        _ expected: [Sample],
        for backend: BackendName,
        in checked: CheckedStore
    ) throws(ContractViolation) {
        let pages = read(backend, in: checked)
        let largest = pages.map(\.count).max() ?? 0
        try require(largest <= 1_000, completeness, "a page of \(largest) samples")
        let found = pages.joined().map(\.sample)
        if let difference = ExactDifference.between(found, expected) {
            throw ContractViolation(completeness, difference)
        }
    }
}
