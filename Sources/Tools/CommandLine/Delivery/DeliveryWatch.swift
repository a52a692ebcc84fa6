package import Instrument

/// Reports the samples that a run did not deliver, and the reasons: the growth of the backends' ledgers during the run,
/// and the queue's diagnostics.
///
/// Create the watch before the queue, so that losses of earlier runs in the same durable queue do not count.
package final class DeliveryWatch: Sendable {
    /// What the backends receive.
    package enum Content: Sendable {
        case samples
        /// Messages about alerts. Their sender offers what the queue rejects again, and reports what is left.
        case messages

        fileprivate var noun: String {
            switch self {
            case .samples: "sample"
            case .messages: "message"
            }
        }
    }

    private struct Reasons {
        var dead: [String: Int] = [:]
        /// The reason of the latest failed attempt.
        var waiting: String?
    }

    /// The largest number of reasons that are shown for each backend.
    private static let mostReasons = 3
    /// The largest number of reasons that are counted separately.
    private static let mostKept = 100
    private static let otherReasons = "other reasons"

    private let store: any SampleStore
    private let backends: [any Backend]
    private let before: [BackendName: Ledger]
    private let queue: String?
    private let content: Content
    private let ownAdvice: [String]?
    private let state = Lock<[BackendName: Reasons]>([:])
    private let refused = Lock<[String: Int]>([:])

    /// Creates a watch over `backends`.
    ///
    /// - Parameters:
    ///   - queue: the directory of the durable queue; nil without one.
    ///   - content: what the backends receive.
    ///   - advice: lines about what to do with samples that were not delivered; nil derives them from `queue`.
    package init(
        _ backends: [any Backend],
        in store: any SampleStore,
        queue: String?,
        of content: Content = .samples,
        advice: [String]? = nil
    ) {
        self.store = store
        self.queue = queue
        self.content = content
        ownAdvice = advice
        self.backends = backends
        before = Dictionary(backends.map { ($0.name, store.ledger(of: $0.name)) }) { first, _ in first }
    }

    /// Records the reason in a diagnostic. Called on any thread.
    package func note(_ diagnostic: Diagnostic) {
        if content == .samples, let error = diagnostic.queueError {
            refused.withLock { Self.count("\(error)", in: &$0) }
        }
        guard let backend = diagnostic.backend, let reason = diagnostic.reason else { return }
        state.withLock { state in
            if diagnostic.kind == .deadLetter {
                Self.count(reason, in: &state[backend, default: Reasons()].dead)
            } else {
                state[backend, default: Reasons()].waiting = reason
            }
        }
    }

    /// Lines for people about samples that were not delivered; empty if all were delivered.
    package func lines() -> [String] {
        let reasons = state.withLock { $0 }
        var lines: [String] = []
        var (hasDead, hasQueued) = (false, false)
        for backend in backends {
            let (name, waiting) = (backend.name, waitingCount(of: backend))
            let loss = Loss(since: before[name] ?? Ledger(), to: store.ledger(of: name), waiting: waiting, content)
            if loss.isEmpty { continue }
            (hasDead, hasQueued) = (hasDead || loss.dead > 0, hasQueued || loss.queued > 0)
            let count = String(counting: loss.total, content.noun) + (loss.total == 1 ? " was" : " were")
            lines.append("player-monitor: \(count) not delivered to \(name): \(loss.parts)")
            let known = reasons[name] ?? Reasons()
            lines += Self.list(known.dead, as: "refused")
            if loss.queued > 0, let reason = known.waiting { lines.append("  waiting: \(reason)") }
        }
        let unqueued = refused.withLock { $0 }
        if !unqueued.isEmpty {
            lines.append("player-monitor: the queue rejected some samples")
            lines += Self.list(unqueued, as: "not queued")
        }
        return lines.isEmpty ? [] : lines + advice(hasDead: hasDead, hasQueued: hasQueued)
    }

    /// The number of samples that a backend would still send.
    private func waitingCount(of backend: any Backend) -> Int {
        guard let selective = backend as? any SelectiveBackend else { return store.ledger(of: backend.name).queued }
        var count = 0
        store.readQueued(for: backend.name) { records in
            count += records.count { selective.sends($0) }
            return true
        }
        return count
    }

    private func advice(hasDead: Bool, hasQueued: Bool) -> [String] {
        if let ownAdvice { return ownAdvice }
        guard let queue else {
            if content == .messages {
                return ["  These messages are lost. With --state DIR they stay in that directory for the next run."]
            }
            let dead = hasDead ? ", 'queue dead --retry all DIR' retries refused samples" : ""
            return [
                "  These samples are lost. With --queue DIR they stay in that directory: the next run or 'queue flush' delivers them"
                    + dead + "."
            ]
        }
        var lines: [String] = []
        if hasDead {
            lines.append(
                "  Refused \(content.noun)s stay in the queue: 'player-monitor queue dead \(queue)' lists them, "
                    + "'player-monitor queue dead --retry all \(queue)' retries them with the next run or 'queue flush'."
            )
        }
        if hasQueued {
            lines.append(
                "  Waiting \(content.noun)s stay in the queue: the next run or 'player-monitor queue flush' delivers them."
            )
        }
        return lines
    }

    private static func count(_ reason: String, in counts: inout [String: Int]) {
        let isRoom = counts[reason] != nil || counts.count < mostKept
        counts[isRoom ? reason : otherReasons, default: 0] += 1
    }

    /// The reasons, the most frequent one first.
    private static func list(_ counts: [String: Int], as label: String) -> [String] {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = sorted.prefix(mostReasons).map { "  \(label): \($0.key) (\($0.value))" }
        let rest = sorted.dropFirst(mostReasons).reduce(0) { $0 + $1.value }
        return shown + (rest > 0 ? ["  \(label): for other reasons (\(rest))"] : [])
    }
}

/// The samples that a backend did not receive during a run.
private struct Loss {
    let queued: Int
    let dead: Int
    private let drops: [(reason: DropReason, count: Int)]

    init(since before: Ledger, to now: Ledger, waiting: Int, _ content: DeliveryWatch.Content) {
        queued = waiting
        dead = max(0, now.dead - before.dead)
        // Samples that the user discarded or erased are no losses.
        var harmless: Set<DropReason> = [.discarded, .erased]
        if content == .messages { harmless.insert(.refused) }
        drops = DropReason.allCases.filter { !harmless.contains($0) }.compactMap { reason in
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
