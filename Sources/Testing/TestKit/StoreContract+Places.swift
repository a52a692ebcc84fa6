internal import Instrument

/// Each backend has its own place, batches and dead letters.
extension StoreContract {
    static func checkPlaces(_ checked: CheckedStore) throws(ContractViolation) {
        let store = checked.store
        // Names that a careless store treats as equal.
        let twins: [BackendName] = ["late", "Late", "late ", "l\u{E4}te", "😀", "a/b", "..", "", "late\u{0}"]
        store.attach("early")
        try checked.append(samples(0..<2))
        for name in twins { store.attach(name) }
        store.attach("early")
        try checked.append([sample(2)])
        try checked.requireNext(samples(0..<3), for: "early", "attaching a backend again changes nothing")
        for name in twins {
            try checked.requireNext([sample(2)], for: name, "a place begins where its backend was attached")
        }
        checked.settle(checked.next("early").last, for: "early", dead: [:])
        try checked.requireLedger("early", emitted: 3, acknowledged: 3, queued: 0)
        let promise = "settling for one backend leaves the others where they are"
        for name in twins {
            try checked.requireNext([sample(2)], for: name, promise)
            checked.settle(checked.next(name).last, for: name)
            try checked.requireLedger(name, emitted: 1, acknowledged: 1, queued: 0)
        }
    }

    static func checkForgetting(_ checked: CheckedStore) throws(ContractViolation) {
        let store = checked.store
        store.attach("one")
        store.attach("two")
        try checked.append(samples(0..<4))
        let first = checked.next().first
        checked.settle(first, dead: first.map { [$0.sequence: "no"] } ?? [:])
        store.forget("one")
        try requireNothing(of: "one", in: checked, "a forgotten backend has no samples, no ledger and no dead letters")
        try checked.requireNext(samples(0..<4), for: "two", "forgetting one backend leaves the others")
        store.attach("one")
        try checked.append([sample(4)])
        try checked.requireNext([sample(4)], "a backend that is attached again begins at the end")
        try checked.requireLedger(emitted: 1, queued: 1)
        try require(
            store.deadLetters(of: "one").isEmpty,
            "a forgotten backend has no samples, no ledger and no dead letters",
            "old dead letters"
        )
    }

    static func checkStrangers(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        try checked.append(samples(0..<3))
        guard let last = checked.next().last else { return }
        checked.settle(last, for: "nobody", dead: [last.sequence: "no"])
        checked.store.forget("nobody")
        try requireNothing(of: "nobody", in: checked, "a backend that is not attached has nothing")
        try checked.requireLedger(emitted: 3, queued: 3)
        try checked.requireNext(samples(0..<3), "calls for a backend that is not attached change nothing")
    }

    private static func requireNothing(
        of backend: BackendName,
        in checked: CheckedStore,
        _ promise: String
    ) throws(ContractViolation) {
        let count = checked.next(backend).count
        try require(count == 0, promise, "\(count) samples")
        try require(checked.store.ledger(of: backend) == Ledger(), promise, "a ledger")
        try require(checked.store.backlog(of: backend) == Backlog(), promise, "a backlog")
        try require(checked.store.deadLetters(of: backend).isEmpty, promise, "dead letters")
    }

    static func checkFates(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        try checked.append(samples(0..<10))
        let records = checked.next(count: 6)
        guard records.count == 6, let last = records.last else {
            throw ContractViolation("a batch is as large as allowed", "\(records.count) of 6 samples")
        }
        // A sample that is not settled does not become a dead letter.
        checked.settle(last, dead: [records[2].sequence: "no", last.sequence + 2: "not passed"])
        try checked.requireLedger(emitted: 10, acknowledged: 5, queued: 4, dead: 1)
        let ledger = checked.store.ledger(of: "one")
        checked.settle(last)
        checked.settle(records[0], dead: [records[0].sequence: "too late"])
        try require(
            checked.store.ledger(of: "one") == ledger,
            "settling settled samples changes nothing",
            "another ledger"
        )
        try checked.requireNext(samples(6..<10), "reading continues after the settled samples")
        checked.settle(checked.next().last)
        try checked.requireLedger(emitted: 10, acknowledged: 9, queued: 0, dead: 1)
    }

    static func checkDeadLetters(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        checked.store.attach("two")
        try checked.append(samples(0..<20))
        let reasons = ["no", "", "HTTP 400: “schlecht” \u{0}\u{1F600} e\u{301}", String(repeating: "r", count: 10_000)]
        var expected: [(record: SampleRecord, reason: String)] = []
        for batch in 0..<4 {
            let records = checked.next(count: 5)
            guard records.count == 5 else {
                throw ContractViolation("a batch is as large as allowed", "\(records.count) of 5 samples")
            }
            // Two samples of each batch, in no order.
            let dead = [records[3], records[1]]
            expected += [records[1], records[3]].map { ($0, reasons[batch]) }
            checked.settle(
                records.last,
                dead: Dictionary(uniqueKeysWithValues: dead.map { ($0.sequence, reasons[batch]) })
            )
        }
        let letters = checked.store.deadLetters(of: "one")
        try require(
            letters.map(\.record.sequence) == expected.map(\.record.sequence),
            "dead letters come oldest first, each once",
            "\(letters.map(\.record.sequence))"
        )
        let keeping = "a dead letter keeps its sample, its identifier and its reason"
        for (letter, expected) in zip(letters, expected) {
            try require(letter.record.id == expected.record.id, keeping, "another identifier")
            try require(letter.reason.utf8.elementsEqual(expected.reason.utf8), keeping, "another reason")
            if let difference = ExactDifference.between(letter.record.sample, expected.record.sample) {
                throw ContractViolation(keeping, difference)
            }
        }
        try checked.requireLedger(emitted: 20, acknowledged: 12, queued: 0, dead: 8)
        let others = checked.store.deadLetters(of: "two").count
        try require(others == 0, "a dead letter belongs to one backend", "\(others) of another backend")
        try checked.requireLedger("two", emitted: 20, queued: 20)
    }
}
