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

    private var results: [SampleID: Result] = [:]
    /// The identifiers of the messages under way, by their numbers.
    private var slots: [SampleID?] = []
    private var free: [Int] = []

    /// The number of messages under way.
    var underWayCount: Int { slots.count - free.count }

    /// Arrived messages that are remembered although their batch was not acknowledged as a whole. The queue may halve
    /// that batch, so messages of later batches are among them.
    private static let maxArrivedCount = 50_000

    /// Starts a delivery of these samples: forgets failures, and what is known about samples that the queue has
    /// dropped.
    mutating func begin(_ ids: [SampleID]) {
        if results.isEmpty { return results.reserveCapacity(ids.count) }
        let isCrowded = results.count - underWayCount > Self.maxArrivedCount
        let known = isCrowded ? Set(ids) : []
        results = results.filter { id, result in
            switch result {
            case .underWay: true
            case .arrived: !isCrowded || known.contains(id)
            case .failed: false
            }
        }
    }

    /// Whether the sample's message is neither under way nor has arrived.
    func needsMessage(_ id: SampleID) -> Bool {
        switch results[id] {
        case .underWay, .arrived: false
        case .failed, nil: true
        }
    }

    /// Whether the sample's message waits for its report.
    func isUnderWay(_ id: SampleID) -> Bool {
        if case .underWay = results[id] { true } else { false }
    }

    /// Reserves the number of a message that is about to be produced.
    mutating func reserve(_ id: SampleID) -> Int {
        results[id] = .underWay
        if let number = free.popLast() {
            slots[number] = id
            return number
        }
        slots.append(id)
        return slots.count - 1
    }

    /// Gives a number back, because the producer did not take the message.
    mutating func release(_ number: Int) { if let id = free(number) { results[id] = nil } }

    /// Records the report of a message: its failure, or nil if it has arrived.
    mutating func report(_ number: Int, _ failure: KafkaFailure?) {
        guard let id = free(number) else { return }
        results[id] = failure.map { .failed($0) } ?? .arrived
    }

    /// Records that a message was not produced.
    mutating func fail(_ id: SampleID, _ failure: KafkaFailure) { results[id] = .failed(failure) }

    /// Forgets every message under way: the producer is gone.
    mutating func abandon() {
        slots = []
        free = []
        results = results.filter { _, result in if case .arrived = result { true } else { false } }
    }

    private mutating func free(_ number: Int) -> SampleID? {
        guard slots.indices.contains(number), let id = slots[number] else { return nil }
        slots[number] = nil
        free.append(number)
        return id
    }

    /// The outcome of a delivery of which no message is under way any more.
    mutating func outcome(of ids: [SampleID]) -> DeliveryOutcome {
        var failures: [(id: SampleID, failure: KafkaFailure)] = []
        for id in ids {
            switch results[id] {
            case .arrived: continue
            case .failed(let failure): failures.append((id, failure))
            case .underWay, nil: failures.append((id, Self.unknown))
            }
        }
        let outcome = Self.outcome(failures)
        switch outcome {
        case .acknowledged, .acknowledgedExcept: forget(ids)
        default: break
        }
        return outcome
    }

    /// Forgets the results of a settled batch; usually there are no others.
    private mutating func forget(_ ids: [SampleID]) {
        if results.count == ids.count { return results.removeAll(keepingCapacity: true) }
        for id in ids { results[id] = nil }
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
