public import Instrument

/// The additional promises of a durable store.
extension StoreContract {
    /// Checks that a store which is opened again continues where it was.
    ///
    /// - Parameter open: opens the store; each time the same one, which holds nothing at the first call. The store that
    ///   was opened before has been released by then.
    /// - Throws: ``ContractViolation``, which names the promise.
    public static func checkReopening(_ open: () -> any SampleStore) throws(ContractViolation) {
        let samples = AwkwardSamples.all
        let before = try fill(CheckedStore(open()), samples)
        try checkReopened(CheckedStore(open()), samples, before)
        try checkMark(CheckedStore(open()))
        try checkNothingHeld(CheckedStore(open()))
    }

    /// The known state of the store before it is reopened.
    private struct Known {
        var lease: [SampleRecord]
        var ledger: Ledger
        var letters: [DeadLetter]
    }

    private static let ledgerStays = "a ledger is the same after the store was reopened"

    private static func fill(_ checked: CheckedStore, _ samples: [Sample]) throws(ContractViolation) -> Known {
        checked.store.attach("one")
        checked.store.attach("two")
        try checked.append(samples)
        let first = checked.next(count: 9)
        guard first.count == 9 else { throw ContractViolation("a batch is as large as allowed", "\(first.count) of 9") }
        checked.settle(first.last, dead: [first[4].sequence: "no \u{0}e\u{301}"])
        let erased = try checked.erase { $0.sequence == first[8].sequence + 5 }
        try require(erased == 1, "each erased sample is counted once", "\(erased) instead of 1")
        let lease = checked.next(count: 3)
        try checked.append([sample(0)])
        return Known(
            lease: lease,
            ledger: checked.store.ledger(of: "one"),
            letters: checked.store.deadLetters(of: "one")
        )
    }

    private static func checkReopened(
        _ checked: CheckedStore,
        _ samples: [Sample],
        _ known: Known
    ) throws(ContractViolation) {
        checked.store.attach("one")
        checked.store.attach("two")
        let ledger = checked.store.ledger(of: "one")
        try require(ledger == known.ledger, ledgerStays, "\(ledger) instead of \(known.ledger)")
        try require(
            checked.store.deadLetters(of: "one") == known.letters,
            "dead letters are the same after the store was reopened",
            "\(checked.store.deadLetters(of: "one").count) of \(known.letters.count)"
        )
        let lease = checked.next()
        try require(
            lease == known.lease,
            "an unsettled batch is the same after the store was reopened",
            "\(lease.count) samples instead of \(known.lease.count)"
        )
        checked.settle(lease.last)
        var expected = Array(samples.dropFirst(12)) + [sample(0)]
        // The fifth sample after the first nine was erased.
        expected.remove(at: 1)
        try checked.requireNext(expected, "samples are exactly the same after the store was reopened")
        let all = checked.next("two")
        try require(
            all.count == samples.count,
            "an erased sample is gone after the store was reopened",
            "\(all.count) samples instead of \(samples.count)"
        )
        checked.settle(checked.next().last)
        checked.settle(all.last, for: "two")
        try checked.append([sample(1)])
        try checked.hold()
        try checked.append([sample(2)])
    }

    private static func checkMark(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        try checked.append([sample(3)])
        let erased = try checked.eraseHeld()
        try require(erased == 2, "the mark stays when the store is reopened", "\(erased) of 2 held samples erased")
        try checked.requireNext([sample(1)], "samples from before the mark stay")
    }

    private static func checkNothingHeld(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        let erased = try checked.eraseHeld()
        try require(erased == 0, "erasing held samples removes the mark", "\(erased) samples erased without a mark")
        try checked.requireNext([sample(1)], "samples are exactly the same after the store was reopened")
    }
}
