internal import Instrument

/// Counts failures across variants, for profiles whose player does so.
struct FailureCount: Hashable, Sendable {
    private var byRung: [Int: Int] = [:]

    /// Counts a failure while a rung is played.
    ///
    /// - Returns: the failures so far, this one included.
    mutating func add(at rung: Int) -> Int {
        byRung[rung, default: 0] += 1
        return byRung.values.reduce(0) { $0.saturatingAdd($1) }
    }

    /// Forgets the failures of a rung, of whose main track a segment has arrived.
    mutating func forget(_ rung: Int) { byRung[rung] = nil }

    /// Adopts the rungs of a reloaded manifest.
    mutating func adopt(_ change: LadderChange) {
        let kept = byRung.compactMap { rung, count in change.rungs[rung].map { ($0, count) } }
        byRung = Dictionary(kept) { $0.saturatingAdd($1) }
    }
}
