/// A ping every 30 s while a hub requests it. Keeps neither instrument nor tracker alive.
extension Instrument {
    func apply(_ change: HubContext.PingChange) {
        switch change {
        case .start(let id): schedulePing(of: id, at: clock.now.advanced(by: Self.pingInterval))
        case .stop(let id): slot(of: id)?.setPing(nil)
        }
    }

    private func schedulePing(of id: TrackerID, at instant: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        let ping = clock.schedule(at: instant) { [weak self] in
            guard let self else { return }
            schedulePing(of: id, at: instant.advanced(by: Self.pingInterval))
            emit(.ping, from: id)
        }
        slot.setPing(ping)
    }
}
