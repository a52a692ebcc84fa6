/// Where a backend's samples are; `emitted == acknowledged + queued + dead + dropped` always holds.
public struct Ledger: Hashable, Sendable {
    /// Samples that the queue took since this backend was attached.
    public var emitted = 0
    /// Samples that have arrived.
    public var acknowledged = 0
    /// Samples that wait.
    public var queued = 0
    /// Samples that will never be taken.
    public var dead = 0
    /// Samples that were let go, by reason.
    public var drops: [DropReason: Int] = [:]

    /// Creates an empty ledger.
    public init() {}

    /// Samples that were let go: pushed out or kept out by a limit, unreadable, discarded or erased.
    public var dropped: Int { drops.values.reduce(0, +) }
    /// Samples whose fate is decided.
    public var settled: Int { acknowledged + dead + dropped }

    /// What ``passed`` will be once all that is queued now has left.
    var flushGoal: Int { passed + queued }
    /// Whether all that was queued when the goal was set has left.
    func hasReached(_ goal: Int) -> Bool { queued == 0 || passed >= goal }

    /// Samples that left the queue at its head, so that all before them had left, too: what a flush counts by.
    ///
    /// What was refused was never in line, and what is erased or discarded may have stood anywhere.
    var passed: Int {
        acknowledged + dead + dropped - [DropReason.refused, .erased, .discarded].reduce(0) { $0 + (drops[$1] ?? 0) }
    }
}

/// Why the queue let go of a sample that had not arrived.
public enum DropReason: String, Hashable, Sendable, CaseIterable {
    /// More samples than the limit.
    case count
    /// More bytes than the limit.
    case bytes
    /// Older than the limit.
    case age
    /// A dead letter that a person threw away.
    case discarded
    /// Could not be read back from the store.
    case corrupt
    /// The queue was full and told to refuse what is new.
    case refused
    /// A person wanted it gone, or did not consent.
    case erased
}

/// A sample that a backend will never take, and why.
public struct DeadLetter: Hashable, Sendable {
    /// The sample.
    public let record: SampleRecord
    /// The server's words, or ours.
    public let reason: String

    /// Creates a dead letter.
    public init(record: SampleRecord, reason: String) {
        self.record = record
        self.reason = reason
    }
}
