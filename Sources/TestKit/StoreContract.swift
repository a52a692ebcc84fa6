public import Instrument

/// What every store promises; run it on yours.
///
/// - samples come back equal, in order, numbered without gaps, with the same identifiers each time,
/// - each backend has its own place, from where it was attached,
/// - a batch is as large as allowed, and one sample at least,
/// - the ledger adds up, dead letters keep their reason, and what is forgotten is gone.
public enum StoreContract {
    /// Checks the promises on a store that holds nothing yet and whose limits are not reached by 1000 small samples.
    public static func check(_ makeStore: () -> any SampleStore) throws(ContractViolation) {
        try checkOrder(makeStore())
        try checkPlaces(makeStore())
        try checkBytes(makeStore())
        try checkFates(makeStore())
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
