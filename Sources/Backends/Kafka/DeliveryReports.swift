internal import Instrument

/// The results of messages that the producer received.
///
/// A delivery that is cancelled leaves its messages with the producer, and the queue retries the whole batch. So the
/// results outlive a delivery: a message that has arrived, or is still under way, is not produced for a second time.
struct DeliveryReports {
    private enum Result {
        case underWay
        case arrived
        case failed(KafkaFailure)
    }

    private struct Entry {
        let id: SampleID
        var result: Result
        /// Whether the sample is one of the present delivery.
        var isPresent: Bool
    }

    /// The messages by their numbers; the numbers of nil are in `free`.
    private var entries: [Entry?] = []
    private var free: [Int] = []
    /// The numbers of samples whose earlier delivery was not settled. Usually empty, so that no message is looked up by
    /// its sample.
    private var earlier: [SampleID: Int] = [:]

    /// The number of messages under way.
    private(set) var underWayCount = 0
    /// The number of messages under way that the present delivery waits for.
    private(set) var awaitedCount = 0
    /// The number of messages of the present delivery that have arrived.
    private var arrivedCount = 0

    /// Arrived messages that are remembered although their batch was not acknowledged as a whole. The queue may halve
    /// that batch, so messages of later batches are among them.
    private static let maxArrivedCount = 50_000

    /// Starts a delivery of these samples: forgets failures, and what is known about samples that the queue has
    /// dropped.
    mutating func begin(_ ids: [SampleID]) {
        (earlier, awaitedCount, arrivedCount) = ([:], 0, 0)
        if entries.count == free.count { return }
        let isCrowded = entries.count - free.count - underWayCount > Self.maxArrivedCount
        let present = Set(ids)
        for number in entries.indices {
            guard let entry = entries[number] else { continue }
            let isPresent = present.contains(entry.id)
            switch entry.result {
            case .failed:
                remove(number)
                continue
            case .arrived:
                if isCrowded, !isPresent {
                    remove(number)
                    continue
                }
                if isPresent { arrivedCount += 1 }
            case .underWay: if isPresent { awaitedCount += 1 }
            }
            entries[number]?.isPresent = isPresent
            earlier[entry.id] = number
        }
    }

    /// Whether the sample's message, produced by an earlier delivery, is neither under way nor has arrived.
    func needsMessage(_ id: SampleID) -> Bool {
        guard !earlier.isEmpty, let number = earlier[id] else { return true }
        return if case .failed? = entries[number]?.result { true } else { false }
    }

    /// Reserves the number of a message that is about to be produced.
    mutating func reserve(_ id: SampleID) -> Int {
        underWayCount += 1
        awaitedCount += 1
        return insert(id, .underWay)
    }

    /// Gives a number back, because the producer did not take the message.
    mutating func release(_ number: Int) {
        underWayCount -= 1
        awaitedCount -= 1
        remove(number)
    }

    /// Records the report of a message: its failure, or nil if it has arrived.
    mutating func report(_ number: Int, _ failure: KafkaFailure?) {
        guard entries.indices.contains(number), let entry = entries[number], case .underWay = entry.result else {
            return
        }
        entries[number]?.result = failure.map { .failed($0) } ?? .arrived
        underWayCount -= 1
        guard entry.isPresent else { return }
        awaitedCount -= 1
        if failure == nil { arrivedCount += 1 }
    }

    /// Records that a message was not produced.
    mutating func fail(_ id: SampleID, _ failure: KafkaFailure) { _ = insert(id, .failed(failure)) }

    /// Forgets every message under way: the producer is gone.
    mutating func abandon() {
        entries = entries.filter { if case .arrived? = $0?.result { true } else { false } }
        (free, underWayCount, awaitedCount) = ([], 0, 0)
        earlier = [:]
        for (number, entry) in entries.enumerated() { if let entry { earlier[entry.id] = number } }
    }

    private mutating func insert(_ id: SampleID, _ result: Result) -> Int {
        // The message of an earlier delivery has failed: this one takes its place.
        if !earlier.isEmpty, let number = earlier.removeValue(forKey: id) { remove(number) }
        let entry = Entry(id: id, result: result, isPresent: true)
        guard let number = free.popLast() else {
            entries.append(entry)
            return entries.count - 1
        }
        entries[number] = entry
        return number
    }

    private mutating func remove(_ number: Int) {
        entries[number] = nil
        free.append(number)
    }

    /// The outcome of a delivery of which no message is under way any more.
    mutating func outcome(of ids: [SampleID]) -> DeliveryOutcome {
        let outcome = arrivedCount == ids.count ? .acknowledged : Self.outcome(failures(of: ids))
        switch outcome {
        case .acknowledged, .acknowledgedExcept: forgetPresent()
        default: break
        }
        return outcome
    }

    private func failures(of ids: [SampleID]) -> [(id: SampleID, failure: KafkaFailure)] {
        var results: [SampleID: Result] = [:]
        for case let entry? in entries where entry.isPresent { results[entry.id] = entry.result }
        return ids.compactMap { id in
            switch results[id] {
            case .arrived: nil
            case .failed(let failure): (id, failure)
            case .underWay, nil: (id, Self.unknown)
            }
        }
    }

    /// Forgets the results of a settled batch; usually there are no others.
    private mutating func forgetPresent() {
        if entries.allSatisfy({ $0?.isPresent ?? true }) {
            entries.removeAll(keepingCapacity: true)
            free.removeAll(keepingCapacity: true)
            earlier = [:]
            return
        }
        for number in entries.indices {
            guard let entry = entries[number], entry.isPresent else { continue }
            earlier[entry.id] = nil
            remove(number)
        }
    }

    private static let unknown = KafkaFailure(.temporary, "the producer was replaced before it reported the delivery")

    /// Temporary failures come first: the queue retries, and what has arrived is not sent again. Then the queue halves
    /// a batch with refused messages until the culprit is alone.
    private static func outcome(_ failures: [(id: SampleID, failure: KafkaFailure)]) -> DeliveryOutcome {
        let reason = { (kind: KafkaFailure.Kind) in failures.first { $0.failure.kind == kind }?.failure.reason }
        if let reason = reason(.unauthorized) { return .unauthorized(reason: reason) }
        if let reason = reason(.temporary) { return .retry(after: nil, reason: reason) }
        if failures.isEmpty { return .acknowledged }
        let suspects = failures.filter { $0.failure.kind != .culprit }
        if suspects.count > 1 {
            if let reason = reason(.tooLarge) { return .tooLarge(reason: reason) }
            return .refused(reason: suspects[0].failure.reason)
        }
        return .acknowledgedExcept(Dictionary(failures.map { ($0.id, $0.failure.reason) }) { first, _ in first })
    }
}
