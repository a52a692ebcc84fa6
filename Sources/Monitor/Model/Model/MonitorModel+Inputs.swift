package import Instrument
internal import InstrumentWatch

extension MonitorModel {
    /// Takes a report of a session. A report of a session that is over is ignored.
    package mutating func handle(_ input: MonitorInput, of id: SessionID, at now: Timestamp) -> [MonitorEffect] {
        guard streams[id.slot]?.run?.id == id else { return [] }
        switch input {
        case .event(let event):
            let clock = historyClock
            streams.change(id.slot) { $0.take(event, clock, at: now) }
            if let run = streams[id.slot]?.run, run.usesTab, run.hasShownPicture { browser.notePicture(of: run) }
            plan(id.slot)
        case .request(let request): streams.change(id.slot) { $0.take(request, at: now) }
        case .gauges(let gauges): streams.change(id.slot) { $0.take(gauges, at: now) }
        case .checked(let observation):
            return take(observation, id.slot, hold: options.checkHold, at: now)
        case .ended(let ending):
            let effects = finish(id.slot, ending, at: now)
            settle(id.slot, at: now)
            return effects
        }
        settle(id.slot, at: now)
        return []
    }

    /// Takes what a check found.
    /// - Parameter hold: how long a broken rule counts as broken after it was last seen broken.
    mutating func take(
        _ observation: CheckObservation,
        _ slot: Int,
        hold: Duration,
        at now: Timestamp
    ) -> [MonitorEffect] {
        guard let known = streams[slot]?.checks, let name = streams[slot]?.stream.name else { return [] }
        streams.change(slot) { $0.take(observation, hold: hold, at: now) }
        settle(slot, at: now)
        let broken = (streams[slot]?.checks.broken ?? []).map { ($0, known.isBroken($0)) }
        return evidence.keep(observation.evidence, of: name, broken: broken, at: now)
    }
}
