internal import Instrument

// Markers and holds: how a break stops the playhead at an exact position and gives it back.
extension PlaybackModel {
    /// Replaces the markers. Markers from `position` up to the playhead are passed at once, earlier ones are dropped.
    mutating func setMarkers(_ new: [PlaybackMarker], from position: Int64, now: MonotonicInstant) {
        move(to: now)
        markers = PlaybackMarkers(new.lazy.filter { $0.position >= position })
        let playhead = self.position(at: now)
        while !isHeld, isPlaying, let next = markers.first, next.position < playhead { pass(next, now, playhead) }
        move(to: now)
    }

    /// Stops the playhead where it is.
    mutating func hold(now: MonotonicInstant) {
        move(to: now)
        anchor = Anchor(instant: now, position: position(at: now))
        isHeld = true
    }

    /// Releases the playhead. A playhead that has no media waits for it, as in a stall.
    mutating func release(now: MonotonicInstant) {
        guard isHeld else { return }
        move(to: now)
        isHeld = false
        anchor = Anchor(instant: now, position: anchor.position)
        if phase == .waiting(.hold) {
            phase = .waiting(.stall)
            note(.stalled, now, anchor.position)
            settle(now)
        }
        startIfPossible(now)
        move(to: now)
    }

    /// Moves a held playhead, without a transition.
    ///
    /// - Returns: whether media has to be fetched from the target on. The buffer is then empty.
    mutating func relocate(to target: Int64, now: MonotonicInstant) -> Bool {
        move(to: now)
        if hasEnded { return false }
        let target = max(0, target)
        leaveBehind(position(at: now))
        let isBuffered = isInBuffer(target)
        if !isBuffered {
            if phase == .playing { phase = .waiting(.hold) }
            flush(at: target)
        }
        anchor = Anchor(instant: now, position: target)
        markers.drop(before: target)
        moveCues(to: target, now)
        settle(now)
        return !isBuffered
    }

    private var isPlaying: Bool { phase == .playing }

    /// The playhead is at a marker.
    mutating func pass(_ marker: PlaybackMarker, _ instant: MonotonicInstant, _ position: Int64) {
        markers.remove(marker)
        if marker.holds { isHeld = true }
        note(.passed(marker), instant, position)
    }
}
