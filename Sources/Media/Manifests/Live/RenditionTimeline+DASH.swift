package import Instrument

extension RenditionTimeline {
    /// Creates a timeline of the segments of a rendition of an MPD.
    /// - Parameters:
    ///   - index: the rendition's segments (``Rendition/Source/segments(_:)``), or those of a `sidx` box.
    ///   - live: the presentation's live rules; nil if it never changes.
    ///   - now: the start of the load of the MPD.
    package init(_ index: SegmentIndex, live: LiveRules?, now: MonotonicInstant) {
        self.index = index
        kind = live == nil || index.isComplete ? .onDemand : .live
        lastChange = now
        usesParts = false
        targetLatency = 0
        take(live, now, hasNews: true)
    }

    /// Merges the same rendition's segments of a reloaded MPD.
    ///
    /// Times in an MPD are absolute and stay unchanged; new numbers continue the known numbers.
    /// - Returns: whether there are new segments or an end.
    @discardableResult
    package mutating func update(with new: SegmentIndex, live: LiveRules?, now: MonotonicInstant) -> Bool {
        guard let last = index.last, let first = new.first else {
            if !new.isEmpty || new.isComplete { index = new }
            take(live, now, hasNews: !index.isEmpty)
            return !index.isEmpty
        }
        let (oldEnd, wasComplete) = (last.end, index.isComplete)
        index = new.renumbered(by: shift(to: new, first, last))
        let hasNews = index.end > oldEnd || index.isComplete != wasComplete
        if hasNews { lastChange = now }
        kind = live == nil || index.isComplete ? .onDemand : .live
        take(live, now, hasNews: hasNews)
        return hasNews
    }

    /// Returns the known number of the segment with the same start, minus its new number.
    private func shift(to new: SegmentIndex, _ first: MediaSegment, _ last: MediaSegment) -> Int64 {
        let middle = first.start.saturatingAdd(first.duration / 2)
        if let known = index.segment(containing: middle), known.start <= middle {
            return known.sequence.saturatingSubtract(first.sequence)
        }
        if let oldest = index.first, first.start < oldest.start,
            let shared = new.segment(containing: oldest.start.saturatingAdd(oldest.duration / 2))
        {
            return oldest.sequence.saturatingSubtract(shared.sequence)
        }
        return last.sequence.saturatingAdd(1).saturatingSubtract(first.sequence)
    }

    private mutating func take(_ live: LiveRules?, _ now: MonotonicInstant, hasNews: Bool) {
        targetLatency = live?.targetLatency ?? 0
        declaredLatency = live?.declaredLatency
        suggestedDelay = live?.suggestedDelay
        asksForCatchUp = live?.asksForCatchUp ?? false
        service = live?.service ?? ServiceLimits()
        minimumBuffer = live?.minimumBuffer
        windowDuration = live?.windowDuration
        origin = live?.origin
        nextReload = live?.nextReload(afterLoadAt: now, targetDuration: index.targetDuration)
    }
}

extension LiveRules {
    /// The time of the next load of the MPD; nil without a next load.
    package func nextReload(afterLoadAt now: MonotonicInstant, targetDuration: Int64) -> MonotonicInstant? {
        // A period of 0 means that events inside the media announce updates (ISO/IEC 23009-1 section 5.3.1.2); the
        // duration of a segment replaces it.
        updatePeriod.map { period in
            let shortest = period > 0 ? period : max(targetDuration, 1_000_000_000)
            return now.advanced(by: .nanoseconds(max(shortest, 500_000_000)))
        }
    }
}
