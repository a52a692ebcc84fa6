internal import InstrumentCMCD

/// The sequence numbers of each session at one target, and the sessions that the target wants no reports of.
///
/// Numbers of a session that begins in this process are 0, 1, 2 … A session whose beginning an earlier process sent
/// continues with the number of the sample in the queue's log: no earlier report can have a higher one, so that numbers
/// never go back.
struct SessionNumbers {
    private static let maxCount = 10_000

    private struct Session {
        var next: Int
        var lastUse: UInt64
    }

    private var sessions: [String: Session] = [:]
    private var ended: [String: UInt64] = [:]
    private var uses: UInt64 = 0

    /// The number of the next report of a session.
    func next(_ session: String, sequence: UInt64) -> Int {
        sessions[session]?.next ?? Int(clamping: sequence)
    }

    /// Records that a session begins in this process, unless it is known.
    mutating func begin(_ session: String) {
        if sessions[session] == nil { set(session, next: 0) }
    }

    /// Records that the target accepted a report.
    mutating func accepted(_ session: String, number: Int) { set(session, next: number + 1) }

    private mutating func set(_ session: String, next: Int) {
        uses += 1
        sessions[session] = Session(next: next, lastUse: uses)
        guard sessions.count > Self.maxCount else { return }
        let limit = uses - UInt64(Self.maxCount / 2)
        sessions = sessions.filter { $0.value.lastUse > limit }
    }

    /// Whether the target answered 410 to a report of the session.
    func hasEnded(_ session: String) -> Bool { ended[session] != nil }

    mutating func end(_ session: String) {
        uses += 1
        ended[session] = uses
        sessions[session] = nil
        guard ended.count > Self.maxCount else { return }
        let middle = ended.values.sorted()[ended.count / 2]
        ended = ended.filter { $0.value > middle }
    }
}
