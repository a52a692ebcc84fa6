internal import Instrument

/// An unsettled batch is repeated unchanged.
extension StoreContract {
    private static let lease =
        "until it is settled, a batch is repeated unchanged, or shorter if fewer samples are requested, never longer"

    static func checkLeases(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        checked.store.attach("two")
        for number in 0..<5 { try checked.append([sample(number)]) }
        let given = checked.next(count: 3)
        try require(given.count == 3, "a batch is as large as allowed", "\(given.count) of 3 samples")
        for number in 5..<10 { try checked.append([sample(number)]) }
        try requireLease(given, checked.next(), "more were asked for")
        try requireLease(given, checked.next(count: 9), "nine were asked for")
        let others = checked.next("two").count
        try require(others == 10, "a batch of one backend does not bind another", "\(others) of 10 samples")
        try requireLease(Array(given.prefix(2)), checked.next(count: 2), "two were asked for")
        let grown = checked.next()
        try require(
            (2...3).contains(grown.count) && grown == Array(given.prefix(grown.count)),
            lease,
            "\(grown.count) samples after batches of three and two"
        )
        checked.settle(given[0])
        let rest = checked.next(count: 1)
        try require(rest == [given[1]], "reading continues after the settled samples", "another sample")
        checked.settle(rest.last)
        checked.settle(checked.next(count: 1).last)
        try checked.requireNext(samples(3..<10), "once a batch is settled, the next one is as large as allowed")
        try checked.append([sample(10)])
        try checked.requireNext(samples(3..<10), lease)
        checked.settle(checked.next().last)
        try checked.requireNext([sample(10)], "once a batch is settled, the next one is as large as allowed")
        try checked.requireLedger(emitted: 11, acknowledged: 10, queued: 1)
    }

    private static func requireLease(
        _ given: [SampleRecord],
        _ found: [SampleRecord],
        _ circumstance: String
    ) throws(ContractViolation) {
        try require(
            found == given,
            lease,
            "\(found.count) samples instead of \(given.count) when \(circumstance)"
        )
    }

    /// A batch that was limited by bytes, and one with all samples, are leased, too.
    static func checkLeaseLimits(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        checked.store.attach("two")
        try checked.append(samples(0..<6))
        let cut = checked.next(bytes: 1)
        try require(cut.count == 1, "a batch has no more bytes than requested", "\(cut.count) samples within one byte")
        try requireLease(cut, checked.next(), "any number of bytes was asked for")
        let all = checked.next("two")
        try checked.append(samples(6..<9))
        checked.store.attach("two")
        try requireLease(all, checked.next("two"), "more had been appended")
        // A request for no samples does not end a lease.
        _ = checked.next("two", count: 0)
        let still = checked.next("two")
        try require(
            still.count <= all.count && !still.isEmpty,
            lease,
            "\(still.count) samples after none were asked for"
        )
        checked.settle(all.last, for: "two")
        try checked.requireNext(
            samples(6..<9),
            for: "two",
            "once a batch is settled, the next one is as large as allowed"
        )
    }

    static func checkErasedLease(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        try checked.append(samples(0..<6))
        let given = checked.next(count: 4)
        guard given.count == 4 else { throw ContractViolation("a batch is as large as allowed", "\(given.count) of 4") }
        let erased = try checked.erase { $0.sequence == given[1].sequence }
        try require(erased == 1, "each erased sample is counted once", "\(erased) instead of 1")
        try checked.append([sample(6)])
        let found = checked.next()
        let left = given.filter { $0.sequence != given[1].sequence }
        try require(found.count <= 3, lease, "\(found.count) samples of 4, one of which was erased")
        try require(found == Array(left.prefix(found.count)), "an erased sample is gone from a batch", "another batch")
        checked.settle(given[3])
        try checked.requireNext([4, 5, 6].map(sample), "reading continues after the settled samples")
        try checked.requireLedger(emitted: 7, acknowledged: 3, queued: 3, erased: 1)
    }
}
