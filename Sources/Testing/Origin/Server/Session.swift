internal import Instrument

/// A link on the origin's clock, which wakes its senders when other responses leave.
final class Link: Sendable {
    private struct State {
        var link: SharedLink
        var next = 0
        var wakers: [Int: @Sendable () -> Void] = [:]
    }

    private let state: Lock<State>
    let start: MonotonicInstant

    init(_ schedule: DeliverySchedule, sharing: LinkSharing, start: MonotonicInstant) {
        self.start = start
        state = Lock(State(link: SharedLink(schedule, sharing: sharing)))
    }

    func latency(at now: MonotonicInstant) -> Duration {
        state.withLock { $0.link.schedule.latency(at: start.duration(to: now)) }
    }

    /// Adds a response of `bytes` to the link; calls `wake` when the response may continue earlier than expected.
    func join(bytes: Int, at now: MonotonicInstant, wake: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.link.join(state.next, bytes: bytes, at: time(now))
            state.wakers[state.next] = wake
            return state.next
        }
    }

    /// Removes a response from the link, complete or not.
    func leave(_ number: Int, at now: MonotonicInstant) {
        let wakers = state.withLock { state in
            state.wakers[number] = nil
            let before = state.link.count
            state.link.leave(number, at: time(now))
            return state.link.count < before ? Array(state.wakers.values) : []
        }
        for wake in wakers { wake() }
    }

    /// Changes the schedule; time zero stays.
    func follow(_ schedule: DeliverySchedule, at now: MonotonicInstant) {
        let wakers = state.withLock { state in
            state.link.follow(schedule, at: time(now))
            return Array(state.wakers.values)
        }
        for wake in wakers { wake() }
    }

    /// Returns the number of bytes of a response that have left; nil if it is complete.
    func released(_ number: Int, at now: MonotonicInstant) -> Int? {
        state.withLock { $0.link.released(number, at: time(now)) }
    }

    /// Returns the instant of the next piece of up to `piece` bytes, or of the bytes that leave within `granularity`;
    /// nil if, in the present state, no byte leaves.
    func nextPiece(
        _ number: Int,
        after sent: Int,
        at now: MonotonicInstant,
        granularity: Duration,
        piece: Int
    ) -> MonotonicInstant? {
        state.withLock { state in
            let since = start.duration(to: now)
            let load = state.link.schedule.bytes(from: since, to: since + granularity) / max(1, state.link.count)
            let (goal, overflow) = sent.addingReportingOverflow(max(1, min(piece, load)))
            let wake = state.link.wake(number, forByte: overflow ? .max : goal, at: time(now))
            return wake.map { start.advanced(by: .nanoseconds($0)) }
        }
    }

    private func time(_ now: MonotonicInstant) -> Int64 { max(0, start.duration(to: now).nanoseconds) }
}

/// A client, by its name in the path: its time zero, its link, and the number of requests that matched each rule.
final class Session: Sendable {
    let name: String
    let start: Timestamp
    let link: Link
    private let counts = Lock<(generation: Int, counts: [Int])>((0, []))

    init(name: String, start: Timestamp, link: Link) {
        self.name = name
        self.start = start
        self.link = link
    }

    /// Returns the first rule that applies to a request. Rules of another generation restart their counts.
    func rule(of rules: [FaultRule], generation: Int, path: String, at now: MonotonicInstant) -> Int? {
        let time = start.instant.duration(to: now)
        return counts.withLock { state in
            if state.generation != generation || state.counts.count != rules.count {
                state = (generation, Array(repeating: 0, count: rules.count))
            }
            var acting: Int?
            for (index, rule) in rules.enumerated() where rule.fits(path: path, at: time) {
                state.counts[index] += 1
                if acting == nil, rule.occurrence.contains(state.counts[index]) { acting = index }
            }
            return acting
        }
    }
}
