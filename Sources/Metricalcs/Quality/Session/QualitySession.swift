public import Instrument

/// The sums of one session, from which every ``Dialect`` computes its metrics.
///
/// A session is one playback of one tracker. Times are whole milliseconds, as on the wire: differences of rounded
/// instants, so that the states add up to ``length`` exactly. All arithmetic is in integers, so that a replay gives the
/// same bits.
public struct QualitySession: Hashable, Sendable {
    /// The tracker's session number: which session this is.
    public internal(set) var key: SessionKey
    /// The identifier of the playback; nil if the hub gave none.
    public internal(set) var playbackId: String?
    /// The identifier of the latest stream; nil if the hub gave none.
    package internal(set) var streamId: String?
    /// The identifier of the sender; nil if the events have none.
    public internal(set) var senderId: String?
    /// The number of sessions that this one stands for: N if one of N sessions is recorded.
    public internal(set) var weight = 1
    /// The first event.
    public internal(set) var begin: Timestamp
    /// The latest event.
    public internal(set) var end: Timestamp
    /// The state now; for a closed session the final state.
    public internal(set) var state: SessionState = .idle
    /// The time in each state.
    public internal(set) var times = StateTimes()
    /// The states in order; empty unless the model records them.
    public internal(set) var intervals: [StateInterval] = []
    /// Changes of rendition, buffer levels and the like, for dialects that list them; empty unless the model records
    /// them.
    package internal(set) var trace = SessionTrace()
    /// How the session began.
    public internal(set) var startup = Startup()
    /// Stalls, seeks and pauses.
    public internal(set) var interruptions = Interruptions()
    /// The shown quality: bitrates, renditions, rates, latency.
    public internal(set) var picture = PictureSums()
    /// Requests and their results.
    public internal(set) var network = NetworkQuality()
    /// Errors.
    public internal(set) var failures = Failures()
    /// The sums that the eight core metrics add up to.
    package internal(set) var core = CoreSums()
    /// The events that the session misses, by the state that the hub reports with the events that are there: how many
    /// of each action. The session's sums include what these events would have changed.
    public internal(set) var lostEvents: [Action: Int] = [:]

    init(key: SessionKey, begin: Timestamp) {
        self.key = key
        self.begin = begin
        end = begin
    }

    /// The greatest weight; a greater `sampleWeight` counts as this, so that sums of sessions do not saturate.
    package static let largestWeight = 1_000_000_000

    /// The length in milliseconds, from the first event to the latest.
    public var length: Int { begin.instant.milliseconds(to: end.instant) }

    /// The events that the session misses, in words: `BufferFinish, SeekBegin × 2`; nil if it misses none.
    package var lostEventSummary: String? {
        if lostEvents.isEmpty { return nil }
        return lostEvents.sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
            .map { $0.value == 1 ? $0.key.name : "\($0.key.name) × \($0.value)" }
            .joined(separator: ", ")
    }

    /// Whether the session ended before the start without a fatal error, except one that the person's own action
    /// caused.
    public var isExitBeforeStart: Bool { state.isTerminal && !startup.hasStarted && !failures.isStartFailure }
}

/// Identifies a session among all sessions of a log: its sender and the number of the playback.
public struct SessionKey: Hashable, Sendable, Comparable {
    /// `senderId` of the content's tracker; the tracker's number for events without one.
    public var sender: String
    /// 0 for the first session of the sender, then 1, 2 ….
    public var number: Int

    /// Creates a key.
    package init(sender: String, number: Int) {
        self.sender = sender
        self.number = number
    }

    /// By sender in the order of UTF-8 bytes, then by number.
    public static func < (left: SessionKey, right: SessionKey) -> Bool {
        if left.sender != right.sender {
            return left.sender.utf8.lexicographicallyPrecedes(right.sender.utf8)
        }
        return left.number < right.number
    }
}
