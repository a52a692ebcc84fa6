/// The counts of a backend's samples by their state. `emitted == acknowledged + queued + dead + dropped` is always
/// true.
public struct Ledger: Hashable, Sendable {
    /// Samples that the queue has accepted since this backend was attached, and samples that it has refused.
    public var emitted = 0
    /// Samples that the backend has accepted.
    public var acknowledged = 0
    /// Samples that wait for delivery.
    public var queued = 0
    /// Samples that the backend will never accept (dead letters).
    public var dead = 0
    /// Samples that the queue has dropped, by reason.
    public var drops: [DropReason: Int] = [:]

    /// Creates an empty ledger.
    public init() {}

    /// Samples that the queue has dropped: by a limit, because they were unreadable, discarded or erased.
    public var dropped: Int { drops.values.reduce(0, +) }
    /// Samples that are no longer queued: accepted, dead or dropped.
    public var settled: Int { acknowledged + dead + dropped }

    /// The value of ``passed`` at which every sample that is queued now has left the queue.
    var flushGoal: Int { passed + queued }
    /// Whether every sample that was queued when the goal was computed has left the queue.
    func hasReached(_ goal: Int) -> Bool { queued == 0 || passed >= goal }

    /// Samples that left the queue at its head, after all samples before them. A flush counts these samples.
    ///
    /// Refused samples were never queued, and erased or discarded samples may have been anywhere in the queue.
    var passed: Int {
        acknowledged + dead + dropped - [DropReason.refused, .erased, .discarded].reduce(0) { $0 + (drops[$1] ?? 0) }
    }
}

/// The queue's reason to drop a sample that no backend had received.
///
/// Only the queue drops samples, so the set belongs to this library. Custom stores and backends report drops with these
/// reasons.
public enum DropReason: String, Hashable, Sendable, CaseIterable {
    /// More samples than the limit.
    case count
    /// More bytes than the limit.
    case bytes
    /// Older than the limit.
    case age
    /// A person discarded the dead letter.
    case discarded
    /// The store could not read the sample.
    case corrupt
    /// The queue was full, and its configuration refuses new samples.
    case refused
    /// A person asked for the erasure, or did not consent.
    case erased
}

/// A sample that a backend will never accept, with the reason.
public struct DeadLetter: Hashable, Sendable {
    /// The sample.
    public let record: SampleRecord
    /// The reason in the words of the server or of the queue.
    public let reason: String

    /// Creates a dead letter.
    public init(record: SampleRecord, reason: String) {
        self.record = record
        self.reason = reason
    }
}
