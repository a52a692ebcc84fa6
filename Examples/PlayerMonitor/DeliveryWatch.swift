internal import Instrument

/// What a run did not deliver, and why: what the ledgers of its backends gained, and the reasons that the queue gave.
///
/// Made before the queue, so that what earlier runs lost in the same durable queue does not count.
final class DeliveryWatch: Sendable {
    private struct Reasons {
        var dead: [String: Int] = [:]
        /// Why the latest attempt failed.
        var waiting: String?
        /// Samples that the queue did not take at all, and why.
        var notQueued: [String: Int] = [:]
    }

    /// Reasons that are shown for each backend.
    private static let mostReasons = 3
    /// Different reasons that are counted one by one.
    private static let mostKept = 100
    private static let otherReasons = "other reasons"

    private let store: any SampleStore
    private let backends: [BackendName]
    private let before: [BackendName: Ledger]
    private let queue: String?
    private let state = Lock<[BackendName: Reasons]>([:])
    private let refused = Lock<[String: Int]>([:])

    /// Creates a watch over `backends`; `queue` is the directory of a durable queue, if there is one.
    init(_ backends: [any Backend], in store: any SampleStore, queue: String?) {
        self.store = store
        self.queue = queue
        self.backends = backends.map(\.name)
        before = Dictionary(backends.map { ($0.name, store.ledger(of: $0.name)) }) { first, _ in first }
    }

    /// Remembers the reasons that a diagnostic names.
    func note(_ diagnostic: Diagnostic) {
        switch diagnostic {
        case .deadLetter(let backend, _, let reason):
            state.withLock { Self.count(reason, in: &$0[backend, default: Reasons()].dead) }
        case .retrying(let backend, _, let reason), .silenced(let backend, let reason):
            state.withLock { $0[backend, default: Reasons()].waiting = reason }
        case .notQueued(let error):
            refused.withLock { Self.count("\(error)", in: &$0) }
        default: break
        }
    }

    /// Lines for people about what was not delivered; none if everything was.
    func lines() -> [String] {
        let reasons = state.withLock { $0 }
        var lines: [String] = []
        var (hasDead, hasQueued) = (false, false)
        for backend in backends {
            let loss = Loss(since: before[backend] ?? Ledger(), to: store.ledger(of: backend))
            if loss.isEmpty { continue }
            (hasDead, hasQueued) = (hasDead || loss.dead > 0, hasQueued || loss.queued > 0)
            lines.append("player-monitor: \(loss.total) samples were not delivered to \(backend): \(loss.parts)")
            let known = reasons[backend] ?? Reasons()
            lines += Self.list(known.dead, as: "refused")
            if loss.queued > 0, let reason = known.waiting { lines.append("  waiting: \(reason)") }
        }
        let unqueued = refused.withLock { $0 }
        if !unqueued.isEmpty {
            lines.append("player-monitor: the queue did not take all samples")
            lines += Self.list(unqueued, as: "not queued")
        }
        return lines.isEmpty ? [] : lines + advice(hasDead: hasDead, hasQueued: hasQueued)
    }

    private func advice(hasDead: Bool, hasQueued: Bool) -> [String] {
        guard let queue else {
            let dead = hasDead ? ", 'queue dead --retry all DIR' retries what was refused" : ""
            return [
                "  These samples are lost. With --queue DIR they stay in that directory: the next run or 'queue flush' delivers them"
                    + dead + "."
            ]
        }
        var lines: [String] = []
        if hasDead {
            lines.append(
                "  Refused samples stay in the queue: 'player-monitor queue dead \(queue)' lists them, "
                    + "'player-monitor queue dead --retry all \(queue)' retries them with the next run or 'queue flush'."
            )
        }
        if hasQueued {
            lines.append(
                "  Waiting samples stay in the queue: the next run or 'player-monitor queue flush' delivers them."
            )
        }
        return lines
    }

    private static func count(_ reason: String, in counts: inout [String: Int]) {
        let isRoom = counts[reason] != nil || counts.count < mostKept
        counts[isRoom ? reason : otherReasons, default: 0] += 1
    }

    /// The reasons, the most frequent first.
    private static func list(_ counts: [String: Int], as label: String) -> [String] {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = sorted.prefix(mostReasons).map { "  \(label): \($0.key) (\($0.value))" }
        let rest = sorted.dropFirst(mostReasons).reduce(0) { $0 + $1.value }
        return shown + (rest > 0 ? ["  \(label): for other reasons (\(rest))"] : [])
    }
}

/// What a backend did not get during a run.
private struct Loss {
    let queued: Int
    let dead: Int
    private let drops: [(reason: DropReason, count: Int)]

    init(since before: Ledger, to now: Ledger) {
        queued = now.queued
        dead = max(0, now.dead - before.dead)
        // What a person threw away or wanted gone was not to be delivered.
        drops = DropReason.allCases.filter { $0 != .discarded && $0 != .erased }.compactMap { reason in
            let count = (now.drops[reason] ?? 0) - (before.drops[reason] ?? 0)
            return count > 0 ? (reason, count) : nil
        }
    }

    var total: Int { queued + dead + drops.reduce(0) { $0 + $1.count } }
    var isEmpty: Bool { total == 0 }

    /// `13 refused, 3 waiting, 2 dropped (age)`
    var parts: String {
        let counts = [(dead, "refused"), (queued, "waiting")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return (counts + drops.map { "\($0.count) dropped (\($0.reason.rawValue))" }).joined(separator: ", ")
    }
}
