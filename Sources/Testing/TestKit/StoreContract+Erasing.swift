internal import Instrument

/// Erased samples are gone; all other samples stay.
extension StoreContract {
    static func checkErasing(_ checked: CheckedStore) throws(ContractViolation) {
        let store = checked.store
        store.attach("one")
        store.attach("two")
        try checked.append(samples(0..<400))
        let all = checked.next()
        guard all.count == 400 else { throw ContractViolation("a batch is as large as allowed", "\(all.count) of 400") }
        // The first two are settled, one of them as a dead letter; every third and the first ten are erased.
        checked.settle(all[1], dead: [all[0].sequence: "no"])
        let isErased = { (record: SampleRecord) in record.sequence % 3 == 0 || record.sequence < all[10].sequence }
        let expected = all.filter { !isErased($0) }
        let erased = 400 - expected.count
        let counted = try checked.erase(isErased)
        try require(counted == erased, "each erased sample is counted once", "\(counted) instead of \(erased)")
        let left = checked.next("two")
        try require(left == expected, "an erasure leaves the other samples as they were", "\(left.count) samples")
        try require(store.deadLetters(of: "one").isEmpty, "a dead letter is erased, too", "one is left")
        try checked.requireLedger("one", emitted: 400, acknowledged: 1, queued: expected.count, erased: erased - 1)
        try checked.requireLedger("two", emitted: 400, queued: expected.count, erased: erased)
        let again = try checked.erase(isErased)
        try require(again == 0, "erasing again finds nothing", "\(again) samples")
        let middle = expected[expected.count / 2]
        checked.settle(middle, for: "two")
        checked.settle(expected.last, for: "two")
        try checked.requireLedger("two", emitted: 400, acknowledged: expected.count, queued: 0, erased: erased)
        try checked.append([sample(1)])
        try checked.requireNext([sample(1)], for: "two", "reading continues after an erased end")
        let rest = try checked.erase { _ in true }
        try require(rest >= 1, "an erasure finds everything that waits", "\(rest) samples")
        try require(checked.next("two").isEmpty, "an erased sample is gone", "it is read again")
        try checked.append([sample(2)])
        try checked.requireNext([sample(2)], for: "two", "a store whose samples were all erased accepts new ones")
    }

    static func checkHolding(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        checked.store.attach("two")
        try checked.append(samples(0..<2))
        let none = try checked.eraseHeld()
        try require(none == 0, "without a mark nothing is held", "\(none) samples erased")
        try checked.hold()
        try checked.append([sample(2)])
        try checked.hold()
        try checked.append(samples(3..<6))
        try checked.requireNext(samples(0..<6), "a mark does not change the samples that are read")
        // A held sample that becomes a dead letter is erased, too. An earlier sample that becomes a dead letter stays.
        guard let third = checked.next().dropFirst(2).first, let first = checked.next().first else { return }
        checked.settle(third, dead: [first.sequence: "before", third.sequence: "held"])
        let erased = try checked.eraseHeld()
        try require(
            erased == 4,
            "samples that were appended after the mark are erased, each counted once",
            "\(erased) of 4"
        )
        let letters = checked.store.deadLetters(of: "one").map(\.reason)
        try require(
            letters == ["before"],
            "a held sample that became a dead letter is erased, and no other",
            "\(letters)"
        )
        try checked.requireNext([], "erased held samples are gone")
        try checked.requireNext(samples(0..<2), for: "two", "samples from before the mark stay")
        try checked.requireLedger(emitted: 6, acknowledged: 1, queued: 0, dead: 1, erased: 4)
        try checked.requireLedger("two", emitted: 6, queued: 2, erased: 4)
        try checked.append([sample(6)])
        let second = try checked.eraseHeld()
        try require(second == 0, "erasing held samples removes the mark", "\(second) samples erased without a mark")
        checked.settle(checked.next("two", count: 2).last, for: "two")
        try checked.requireNext([sample(6)], for: "two", "reading continues after an erased end")
    }

    static func checkReleasing(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        try checked.append([sample(0)])
        try checked.release()
        try checked.hold()
        try checked.append(samples(1..<3))
        try checked.release()
        let erased = try checked.eraseHeld()
        try require(erased == 0, "released samples are no longer held", "\(erased) samples erased")
        try checked.requireNext(samples(0..<3), "released samples stay")
        checked.settle(checked.next().last)
        try checked.hold()
        try checked.append([sample(3)])
        let held = try checked.eraseHeld()
        try require(held == 1, "a mark can be set again after a release", "\(held) of 1 erased")
        // If all samples are settled, holding marks the end of the log and not its beginning.
        try checked.requireLedger(emitted: 4, acknowledged: 3, queued: 0, erased: 1)
    }
}
