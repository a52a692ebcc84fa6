public import Instrument

/// What every store promises; run it on yours.
///
/// - samples come back equal, in order, numbered without gaps, with the same identifiers each time,
/// - each backend has its own place, from where it was attached,
/// - a batch is as large as allowed, and one sample at least,
/// - the ledger adds up, dead letters keep their reason, and what is forgotten is gone,
/// - what is erased, or was held and is erased, is gone from everywhere and nothing else is.
public enum StoreContract {
    /// Checks the promises on a store that holds nothing yet and whose limits are not reached by 1000 small samples.
    public static func check(_ makeStore: () -> any SampleStore) throws(ContractViolation) {
        try checkOrder(makeStore())
        try checkPlaces(makeStore())
        try checkBytes(makeStore())
        try checkFates(makeStore())
        try checkErasing(makeStore())
        try checkHolding(makeStore())
    }

    private static func checkOrder(_ store: any SampleStore) throws(ContractViolation) {
        store.attach("one")
        let samples = (0..<1000).map(sample)
        for start in stride(from: 0, to: 1000, by: 7) {
            try append(Array(samples[start..<min(1000, start + 7)]), to: store)
        }
        let records = store.next(for: "one", maxCount: .max, maxBytes: .max)
        try expect(records.map(\.sample) == samples, "samples come back equal and in order")
        try expect(Set(records.map(\.id)).count == 1000, "each sample has an identifier of its own")
        let numbers = records.map(\.sequence)
        try expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "numbers have no gaps")
        try expect(store.next(for: "one", maxCount: .max, maxBytes: .max) == records, "reading again gives the same")
        try expect(store.next(for: "one", maxCount: 3, maxBytes: .max) == Array(records.prefix(3)), "counts are kept")
        try expect(
            store.next(for: "one", maxCount: 9, maxBytes: .max) == Array(records.prefix(3)),
            "until it is settled, a batch comes again as it was given last"
        )
        store.settle("one", through: records[2].sequence, dead: [:])
        try expect(
            store.next(for: "one", maxCount: .max, maxBytes: .max) == Array(records.dropFirst(3)),
            "once it is settled, the next one is as large as allowed"
        )
        try expect(store.next(for: "nobody", maxCount: 3, maxBytes: .max).isEmpty, "nobody gets nothing")
    }

    private static func checkPlaces(_ store: any SampleStore) throws(ContractViolation) {
        store.attach("early")
        try append([sample(0), sample(1)], to: store)
        store.attach("late")
        store.attach("early")
        try append([sample(2)], to: store)
        let samples = { (name: BackendName) in store.next(for: name, maxCount: 10, maxBytes: .max).map(\.sample) }
        try expect(samples("early") == [sample(0), sample(1), sample(2)], "attaching twice changes nothing")
        try expect(samples("late") == [sample(2)], "a place begins where it was attached")
        store.forget("early")
        try expect(samples("early").isEmpty && samples("late") == [sample(2)], "forgetting one leaves the other")
    }

    private static func checkBytes(_ store: any SampleStore) throws(ContractViolation) {
        store.attach("one")
        let bytes = try append((0..<10).map(sample), to: store)
        try expect(store.backlog(of: "one") == Backlog(count: 10, bytes: bytes), "the backlog is what was appended")
        let half = store.next(for: "one", maxCount: 10, maxBytes: bytes / 2).count
        try expect(half >= 1 && half <= 5, "a batch of half the bytes holds half the samples at most")
        try expect(store.next(for: "one", maxCount: 10, maxBytes: 1).count == 1, "one sample goes, however large")
    }

    private static func checkFates(_ store: any SampleStore) throws(ContractViolation) {
        store.attach("one")
        try append((0..<10).map(sample), to: store)
        let records = store.next(for: "one", maxCount: 6, maxBytes: .max)
        guard let last = records.last?.sequence else {
            throw ContractViolation("ten samples were appended, none comes")
        }
        store.settle("one", through: last, dead: [records[2].sequence: "no"])
        let ledger = store.ledger(of: "one")
        let sums = [ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped]
        try expect(
            sums == [10, 5, 4, 1, 0],
            "the ledger adds up: emitted, acknowledged, queued, dead, dropped \(sums)"
        )
        try expect(
            store.deadLetters(of: "one") == [DeadLetter(record: records[2], reason: "no")],
            "a dead letter keeps its sample and its reason"
        )
        store.settle("one", through: last, dead: [:])
        try expect(store.ledger(of: "one") == ledger, "settling twice changes nothing")
        let rest = store.next(for: "one", maxCount: 10, maxBytes: .max).map(\.sample)
        try expect(rest == (6..<10).map(sample), "reading goes on behind what is settled")
    }

    private static func checkErasing(_ store: any SampleStore) throws(ContractViolation) {
        store.attach("one")
        store.attach("two")
        try append((0..<400).map(sample), to: store)
        let all = store.next(for: "one", maxCount: 400, maxBytes: .max)
        // The first two are settled, one of them as a dead letter; every third and the first ten are erased.
        store.settle("one", through: all[1].sequence, dead: [all[0].sequence: "no"])
        let isErased = { (record: SampleRecord) in record.sequence % 3 == 0 || record.sequence < all[10].sequence }
        let expected = all.filter { !isErased($0) }
        try expect(try erase(from: store, isErased) == 400 - expected.count, "each erased sample is counted once")
        try expect(store.next(for: "two", maxCount: 400, maxBytes: .max) == expected, "the others stay, as they were")
        try expect(store.backlog(of: "two").count == expected.count, "what is erased does not wait")
        try expect(store.deadLetters(of: "one").isEmpty, "a dead letter is erased, too")
        let (one, two) = (store.ledger(of: "one"), store.ledger(of: "two"))
        let erased = 400 - expected.count
        let sums = [one.emitted, one.acknowledged, one.queued, one.dead, one.drops[.erased] ?? 0]
        try expect(sums == [400, 1, expected.count, 0, erased - 1], "the ledger adds up behind an erasure: \(sums)")
        try expect(two.drops[.erased] == erased && two.queued == expected.count, "each backend counts its own")
        try expect(try erase(from: store, isErased) == 0, "erasing again finds nothing")
        if let middle = expected.dropFirst(100).first, let last = expected.last {
            store.settle("two", through: middle.sequence, dead: [:])
            store.settle("two", through: last.sequence, dead: [:])
        }
        let end = store.ledger(of: "two")
        try expect(end.acknowledged == expected.count && end.queued == 0, "settling counts only what was there")
        try append([sample(1)], to: store)
        try expect(store.next(for: "two", maxCount: 9, maxBytes: .max).count == 1, "it goes on behind an erased end")
    }

    private static func checkHolding(_ store: any SampleStore) throws(ContractViolation) {
        store.attach("one")
        try append([sample(0)], to: store)
        try keeping { () throws(QueueError) in try store.hold() }
        try append([sample(1)], to: store)
        try keeping { () throws(QueueError) in try store.hold() }
        try append([sample(2)], to: store)
        try expect(try keeping { () throws(QueueError) in try store.eraseHeld() } == 2, "what was held is erased")
        let samples = { store.next(for: "one", maxCount: 9, maxBytes: .max).map(\.sample) }
        try expect(samples() == [sample(0)], "what was there before holding stays")
        if let first = store.next(for: "one", maxCount: 1, maxBytes: .max).first {
            store.settle("one", through: first.sequence, dead: [:])
        }
        try append([sample(3)], to: store)
        try keeping { () throws(QueueError) in try store.hold() }
        try append([sample(4)], to: store)
        try keeping { () throws(QueueError) in try store.release() }
        try expect(try keeping { () throws(QueueError) in try store.eraseHeld() } == 0, "released is like any other")
        try expect(samples() == [sample(3), sample(4)], "what is released stays")
    }

    private static func erase(
        from store: any SampleStore,
        _ isErased: (SampleRecord) -> Bool
    ) throws(ContractViolation) -> Int {
        try keeping { () throws(QueueError) in try store.erase(where: isErased) }
    }

    @discardableResult
    private static func keeping<Value>(_ body: () throws(QueueError) -> Value) throws(ContractViolation) -> Value {
        do throws(QueueError) { return try body() } catch {
            throw ContractViolation("a store that is in order could not hold, release or erase: \(error)")
        }
    }

    @discardableResult
    private static func append(_ samples: [Sample], to store: any SampleStore) throws(ContractViolation) -> Int {
        do throws(QueueError) { return try store.append(samples) } catch {
            throw ContractViolation("a store that is not full refused samples: \(error)")
        }
    }

    private static func expect(_ isKept: Bool, _ promise: String) throws(ContractViolation) {
        if !isKept { throw ContractViolation("not kept: \(promise)") }
    }

    private static func sample(_ number: Int) -> Sample {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(number)),
            wallTime: WallTime(milliseconds: Int64(number))
        )
        let attributes: Attributes = [
            "number": .int(number), "text": "text \u{1F600}", "share": 0.5, "is": true, "list": [1, "two"],
            "map": ["a": 1],
        ]
        return .event(Event(Action("Numbered"), tracker: TrackerID(number % 3), time: time, attributes: attributes))
    }
}
