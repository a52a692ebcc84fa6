package import Instrument
internal import InstrumentWatch

/// The outcome of the wish to try a stream now.
package enum TryOutcome: String, Hashable, Sendable {
    /// A session starts now.
    case starts
    /// The session that shows no picture stops, and another one starts at once.
    case restarts
    /// The stream plays: nothing is to be done.
    case plays
    /// Another monitor plays the stream.
    case elsewhere
    /// No stream has this name.
    case unknown
    /// The monitor stops.
    case stopping

    /// Why nothing was tried; nil if there is nothing to say.
    package var refusal: String? {
        switch self {
        case .starts, .restarts, .plays: nil
        case .elsewhere: "the monitor of another place plays this stream; try it there"
        case .unknown: "no stream has this name"
        case .stopping: "the monitor stops, or the stream was removed"
        }
    }
}

extension MonitorModel {
    /// Ends the wait of a stream for its next session. A session that shows a picture plays on; one that shows none is
    /// replaced.
    package mutating func tryNow(_ name: String, at now: Timestamp) -> (outcome: TryOutcome, effects: [MonitorEffect]) {
        guard let slot = streams.slots[name], let state = streams[slot] else { return (.unknown, []) }
        guard !isStopping else { return (.stopping, []) }
        guard state.stream.origin == nil else { return (.elsewhere, []) }
        switch state.phase {
        case .retired: return (.stopping, [])
        case .waiting:
            tryBy(now.instant, slot)
            return (.starts, [])
        case .stopping:
            streams.change(slot) { $0.withRun { $0.isReplaced = true } }
            return (.restarts, [])
        case .running:
            if state.isPlaying { return (.plays, []) }
            return (.restarts, replace(slot, at: now))
        }
    }

    /// Moves the next session of a stream that waits forward, unless it is earlier.
    mutating func tryBy(_ instant: MonotonicInstant, _ slot: Int) {
        guard case .waiting(let until) = streams[slot]?.phase, until > instant, until != .never else { return }
        streams.change(slot) { $0.phase = .waiting(until: instant) }
        schedule(slot, at: instant)
    }

    /// Stops a session; the next one starts as soon as it has ended.
    mutating func replace(_ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        streams.change(slot) { $0.withRun { $0.isReplaced = true } }
        return stop(slot, at: now)
    }

    /// The longest delay until a stream in trouble is tried again.
    var retryDelay: Duration { max(options.retryInterval, options.retrySpacing * troubledCount) }

    /// Whether a stream is tried again soon: it is down, or an alert fires.
    func isTroubled(_ state: StreamState) -> Bool {
        state.isUp == false
            || state.alerts.contains { engine.isFiring(configuration.alerts[$0].name, of: state.stream.name) }
    }

    // MARK: Down by experience

    /// Plans what a session that runs needs next: its end, the instant at which it counts as down, its replacement.
    mutating func plan(_ slot: Int) {
        guard case .running(let run) = streams[slot]?.phase, let stream = streams[slot]?.stream else { return }
        let dates = [
            run.end, run.replacementDue, run.downSince == nil ? run.downDue(stream) : nil,
            run.retryDue(after: retryDelay),
        ]
        guard let next = dates.compactMap(\.self).min(), next != streams[slot]?.nextDeadline else { return }
        schedule(slot, at: next)
    }

    /// Whether the news of a stream until an instant have arrived: those of another monitor wait in its queue for some
    /// seconds, and do not come from a place that is silent.
    private func isHeard(_ stream: WatchedStream, behind instant: MonotonicInstant) -> Bool {
        guard let origin = stream.origin else { return true }
        guard let latest = places?.places[origin.place]?.latest.instant else { return false }
        return latest >= instant.advanced(by: .seconds(6))
    }

    /// Does what is due of a session that runs.
    mutating func perform(_ run: StreamRun, _ slot: Int, at now: Timestamp) -> [MonitorEffect] {
        if let end = run.end, end <= now.instant { return stop(slot, at: now) }
        if let look = run.replacementDue, look <= now.instant {
            streams.change(slot) {
                if let begin = $0.announcement?.begin, begin <= now.instant { $0.announcement = nil }
            }
            return replace(slot, at: now)
        }
        if run.downSince != nil {
            if let due = run.retryDue(after: retryDelay), due <= now.instant {
                streams.change(slot) { $0.note("session", "session \(run.id.number) is replaced", at: now.wallTime) }
                return replace(slot, at: now)
            }
        } else if let stream = streams[slot]?.stream, let due = run.downDue(stream), due <= now.instant {
            guard isHeard(stream, behind: due) else {
                schedule(slot, at: now.instant.advanced(by: options.evaluationInterval))
                return []
            }
            let clock = historyClock
            streams.change(slot) { $0.countAsDown(run, clock, at: now) }
        }
        plan(slot)
        return []
    }
}
