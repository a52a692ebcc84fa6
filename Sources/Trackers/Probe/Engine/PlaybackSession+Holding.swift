internal import Instrument

extension PlaybackSession {
    /// Tells what a stream says of ads.
    mutating func tell(_ ads: StreamAds) {
        if outcome == nil { news.append(.ads(ads)) }
    }

    mutating func hold(now: MonotonicInstant) {
        guard outcome == nil, !isHeld else { return }
        advance(to: now)
        guard outcome == nil, !isHeld else { return }
        isHeld = true
        model?.hold(now: now)
        noteHold(at: now, position: model?.position(at: now))
    }

    /// The content pauses for a break; before the start it only does not begin.
    private mutating func noteHold(at instant: MonotonicInstant, position: Int64?) {
        heldPosition = position
        if model?.hasStarted != true { beginsWithAds = true }
        if model?.hasStarted == true, !isPaused {
            news.append(.held(made(.pauseBegin, at: instant, position: position)))
        }
    }

    mutating func passed(_ marker: PlaybackMarker, at instant: MonotonicInstant, position: Int64) {
        // Content that failed has no end that a break could follow.
        if marker.position == PlaybackMarker.endPosition, failure != nil {
            model?.release(now: instant)
            return
        }
        if marker.holds {
            isHeld = true
            noteHold(at: instant, position: position)
        }
        news.append(.reached(marker, instant, position: position))
    }

    mutating func release(now: MonotonicInstant) {
        guard outcome == nil, isHeld else { return }
        advance(to: now)
        (isHeld, heldPosition) = (false, nil)
        if model?.hasStarted == true, !isPaused { news.append(.held(made(.pauseFinish, at: now))) }
        model?.release(now: now)
        advance(to: now)
    }

    mutating func relocate(to target: Int64, now: MonotonicInstant) {
        guard outcome == nil, isHeld else { return }
        let target = min(max(0, target), info.duration ?? .max)
        advance(to: now)
        guard var earlier = model else { return pendingSeek = target }
        if model?.relocate(to: target, now: now) == true {
            earlier.stand(at: now)
            beforeSeek = (earlier, failure, true)
            pendingSeek = target
            failure = nil
            media.awaitKeyframe()
            quality.forgetNewest()
        }
        advance(to: now)
    }

    mutating func mark(_ markers: [PlaybackMarker], from position: Int64, now: MonotonicInstant) {
        guard outcome == nil else { return }
        advance(to: now)
        if model == nil { earlyMarkers = markers }
        model?.setMarkers(markers, from: position, now: now)
        advance(to: now)
    }
}
