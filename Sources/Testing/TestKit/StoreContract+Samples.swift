internal import Instrument

/// Every sample is read unchanged, in order, with its number and its identifier.
extension StoreContract {
    static func checkSamples(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        let samples = AwkwardSamples.all
        for start in stride(from: 0, to: samples.count, by: 7) {
            try checked.append(Array(samples[start..<min(samples.count, start + 7)]))
        }
        try checked.requireNext(samples, CheckedStore.exactness)
        try checkPredicate(checked, samples)
        guard let last = checked.next().last else {
            throw ContractViolation(CheckedStore.exactness, "none of \(samples.count) samples")
        }
        let numbers = checked.next().map(\.sequence)
        checked.settle(last, dead: Dictionary(numbers.map { ($0, "no") }) { first, _ in first })
        let letters = checked.store.deadLetters(of: "one").map(\.record.sample)
        // A store may keep only the latest.
        if let difference = ExactDifference.between(letters, samples.suffix(letters.count)) {
            throw ContractViolation("a dead letter keeps its sample exactly", difference)
        }
        try require(letters.count >= min(100, samples.count), "dead letters are kept", "\(letters.count)")
        try checked.requireLedger(emitted: samples.count, queued: 0, dead: samples.count)
    }

    static func checkServices(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        let services: [ServiceName?] = ["one", nil, "\u{1F600}", ""]
        for (number, service) in services.enumerated() { try checked.append([sample(number).addressed(to: service)]) }
        let records = checked.next()
        let promise = "a record names the service that its sample was appended for"
        try require(records.map(\.service) == services, promise, "\(records.map { $0.service?.description ?? "none" })")
        try checked.requireNext((0..<services.count).map(sample), CheckedStore.exactness)
        checked.settle(records.last, dead: Dictionary(records.map { ($0.sequence, "no") }) { first, _ in first })
        let letters = checked.store.deadLetters(of: "one").map(\.record.service)
        try require(letters == services, "a dead letter names the service of its sample", "\(letters.count) letters")
    }

    /// The predicate of `erase` receives the same samples as a reader.
    private static func checkPredicate(
        _ checked: CheckedStore,
        _ samples: [Sample]
    ) throws(ContractViolation) {
        let read = checked.next()
        var asked: [SampleRecord] = []
        let erased = try checked.erase { record in
            asked.append(record)
            return false
        }
        try require(erased == 0, "an erasure that picks nothing erases nothing", "\(erased) erased")
        asked.sort { $0.sequence < $1.sequence }
        let promise = "an erasure examines every sample that waits, exactly as a backend reads it"
        if let difference = ExactDifference.between(asked.map(\.sample), samples) {
            throw ContractViolation(promise, difference)
        }
        try require(asked.map(\.id) == read.map(\.id), promise, "other identifiers")
    }

    static func checkOrder(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        let all = samples(0..<1000)
        for start in stride(from: 0, to: 1000, by: 7) {
            try checked.append(Array(all[start..<min(1000, start + 7)]))
            if start.isMultiple(of: 70) {
                let size = try checked.append([])
                try require(size == 0, "appending no samples adds nothing", "a size of \(size)")
            }
        }
        try checked.requireLedger(emitted: 1000, queued: 1000)
        let records = checked.next()
        if let difference = ExactDifference.between(records.map(\.sample), all) {
            throw ContractViolation(CheckedStore.order, difference)
        }
        let unique = Set(records.map(\.id)).count
        try require(
            unique == 1000,
            "each sample has a unique identifier",
            "\(unique) identifiers for 1000 samples"
        )
        let numbers = records.map(\.sequence)
        let gaps = zip(numbers, numbers.dropFirst()).filter { $1 != $0 + 1 }
        try require(gaps.isEmpty, "numbers have no gaps", "\(gaps.first.map { "\($0.1) after \($0.0)" } ?? "none")")
        let again = checked.next()
        try require(again.map(\.sequence) == numbers, "reading again gives the same samples", "\(again.count) samples")
        try require(again.map(\.id) == records.map(\.id), "identifiers stay the same", "others at the second reading")
        let three = checked.next(count: 3)
        try require(three == Array(records.prefix(3)), "a batch has no more samples than requested", "\(three.count)")
        checked.settle(records[2])
        let rest = checked.next()
        try require(
            rest.map(\.id) == records.dropFirst(3).map(\.id),
            "reading continues after the settled samples",
            "\(rest.count)"
        )
        try checked.requireLedger(emitted: 1000, acknowledged: 3, queued: 997)
    }

    static func checkBytes(_ checked: CheckedStore) throws(ContractViolation) {
        checked.store.attach("one")
        var sizes: [Int] = []
        for number in 0..<10 {
            let text = String(repeating: "x", count: number * 100)
            let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
            let event = Event(.ping, tracker: TrackerID(0), time: time, attributes: ["text": .string(text)])
            sizes.append(try checked.append([.event(event)]))
        }
        let total = sizes.reduce(0, +)
        let backlog = checked.store.backlog(of: "one")
        let measure = "a backlog has the bytes of the samples that are not settled"
        try require(backlog == Backlog(count: 10, bytes: total), measure, "\(backlog.bytes) bytes instead of \(total)")
        // From large to small, because a batch that was given never grows.
        for limit in [total, total - 1, total / 2, sizes[0] + sizes[1], sizes[0], 1, 0] {
            let count = checked.next(bytes: limit).count
            let bytes = sizes.prefix(count).reduce(0, +)
            try require(count > 0, "a batch has at least one sample, of any size", "none within \(limit) bytes")
            try require(
                bytes <= limit || count == 1,
                "a batch has no more bytes than requested",
                "\(count) samples of \(bytes) bytes within \(limit)"
            )
            if limit == total { try require(count == 10, "a batch is as large as allowed", "\(count) of 10 samples") }
        }
        guard let first = checked.next(count: 1).first else { return }
        checked.settle(first)
        let rest = checked.store.backlog(of: "one")
        try require(rest == Backlog(count: 9, bytes: total - sizes[0]), measure, "\(rest.bytes) of \(total) bytes")
        checked.settle(checked.next().last)
        checked.settle(checked.next().last)
        let end = checked.store.backlog(of: "one")
        try require(end == Backlog(), measure, "\(end.count) samples of \(end.bytes) bytes at the end")
    }
}
