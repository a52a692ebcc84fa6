internal import Instrument
internal import InstrumentWatch

extension MonitorModel {
    /// Samples all streams, and evaluates the alerts.
    mutating func evaluate(at now: Timestamp) {
        followClock(to: now)
        let historyNow = historyTime(at: now)
        judgePlaces(at: now)
        // Before the source is read to its end, streams are in states of the past.
        let isCurrent = places?.isCaughtUp ?? true
        troubledCount = streams.order.count { slot in streams[slot].map(isTroubled) ?? false }
        for slot in streams.order {
            sample(slot, at: now)
            settle(slot, at: now)
            guard let state = streams[slot] else { continue }
            if !configuration.objectives.isEmpty {
                objectives.take(state, configuration.objectives, at: historyNow)
            }
            guard isCurrent else { continue }
            let evaluation = AlertEvaluation(of: state, at: now)
            for index in state.alerts { evaluate(configuration.alerts[index], state, evaluation, at: now) }
        }
        book.take(objectives.judge(configuration.objectives, at: now, historyNow), at: now)
        book.take(receivers.judge(configuration.receivers.keys.sorted(), at: now), at: now)
        book.take(browser.judge(configuration, at: now), at: now)
    }

    private mutating func evaluate(
        _ alert: AlertConfiguration,
        _ state: StreamState,
        _ evaluation: AlertEvaluation,
        at now: Timestamp
    ) {
        let isFiring = engine.isFiring(alert.name, of: state.stream.name)
        let expression = isFiring ? alert.keepWhile ?? alert.condition : alert.condition
        let (holds, value) = evaluation.holds(expression)
        let reason = evaluation.reason
        let change = engine.observe(
            alert,
            state.stream,
            holds: holds,
            value: value,
            reason: reason,
            longestUnknown: evaluation.longestUnknown,
            at: now
        )
        if change != nil { lastingChanges += 1 }
        let name = alert.name
        switch change {
        case .fires:
            streams.change(state.slot) { $0.note("alert", "alert \(name) fires", at: now.wallTime) }
            tryBy(now.instant.advanced(by: retryDelay), state.slot)
            signal(alert, state, cause: evaluation.cause(of: alert), reason: reason, value: value, at: now)
        case .resolves:
            streams.change(state.slot) { $0.note("alert", "alert \(name) is resolved", at: now.wallTime) }
            book.resolves(name, of: state.stream.name, at: now)
        case nil: if isFiring, let cause = state.cause { book.explains(cause, of: state.stream, at: now) }
        }
    }

    private mutating func signal(
        _ alert: AlertConfiguration,
        _ state: StreamState,
        cause: StreamCause?,
        reason: String,
        value: Double?,
        at now: Timestamp
    ) {
        let instance = engine.instances[AlertEngine.Key(alert: alert.name, stream: state.stream.name)]
        var signal = IncidentSignal(
            alert,
            state.stream,
            cause: cause,
            reason: reason.isEmpty ? instance?.reason ?? "" : reason,
            since: instance?.since ?? now,
            value: value,
            events: Array(state.log.latest.suffix(5))
        )
        // The condition holds some time after the fault began.
        let begin = min(signal.since.wallTime, cause?.since ?? signal.since.wallTime)
        let changes = state.changes.changes + ownChanges.changes
        signal.changes = changes.filter { $0.mayExplain(faultSince: begin) }
        book.fires(signal, at: now)
    }

    /// Adds what has passed since the last sample to the sums of a stream.
    mutating func sample(_ slot: Int, at now: Timestamp) {
        let (recovery, time) = (options.recoveryTime, historyTime(at: now))
        streams.change(slot) { $0.sample(recovery: recovery, historyTime: time, at: now.instant) }
    }
}
