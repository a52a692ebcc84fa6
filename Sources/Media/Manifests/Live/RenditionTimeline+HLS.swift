package import Instrument

/// A programme date and its position on the axis.
struct DateAnchor: Hashable, Sendable {
    var date: WallTime
    var start: Int64
}

extension RenditionTimeline {
    /// Merges a reloaded media playlist into the timeline.
    ///
    /// Segments are recognised by media sequence number and, where the numbers do not fit (a server that restarted),
    /// by their addresses. A playlist without common segments follows the known segments, at its programme date if
    /// that is later. A load that is older than the known state (another edge of a network) changes nothing.
    /// - Parameters:
    ///   - playlist: the reloaded playlist.
    ///   - axis: the time axis shared with the other renditions; records the position of this one.
    ///   - now: the start of the reload.
    ///   - received: the begin of the response, which a server may have held; nil for `now`.
    /// - Returns: whether there are new segments or an end.
    @discardableResult
    package mutating func update(
        with playlist: HLSMediaPlaylist,
        on axis: inout TimelineAxis,
        now: MonotonicInstant,
        received: MonotonicInstant? = nil
    ) -> Bool {
        noticeList.add(playlist.notices)
        let (oldFirst, oldLast, wasComplete) = (index.firstTimes?.sequence, index.lastTimes?.sequence, index.isComplete)
        let isOlder = !merge(playlist, on: axis)
        let hasParts = !isOlder && takeOpenSegment(of: playlist)
        let hasNews = index.lastTimes?.sequence != oldLast || index.isComplete != wasComplete || hasParts
        if hasNews { lastChange = received ?? now }
        let isChanged = hasNews || index.firstTimes?.sequence != oldFirst
        axis.record(index, isNumberedAlike: isNumberedAlike, loadedAt: now)
        let period = Self.reloadPeriod(playlist)
        nextReload = index.isComplete ? nil : now.advanced(by: .nanoseconds(isChanged ? period : period / 2))
        return hasNews
    }

    /// - Returns: false if the load is older than the known state, or cannot be used, and changes nothing.
    private mutating func merge(_ playlist: HLSMediaPlaylist, on axis: TimelineAxis) -> Bool {
        guard !playlist.segments.isEmpty else {
            if playlist.hasEnded { take(index.storage.all, playlist) }
            return playlist.hasEnded || playlist.skippedCount == 0
        }
        let known = index.storage.all
        guard let last = known.last, let first = known.first else {
            take(appended(playlist.segments, to: []), playlist)
            return true
        }
        guard let match = match(playlist.segments) else {
            guard playlist.skippedCount == 0 else {
                needsWholePlaylist = true
                return false
            }
            needsWholePlaylist = false
            return mergeUnmatched(playlist, on: axis, first, last)
        }
        needsWholePlaylist = false
        var renumbered = playlist.segments.map { $0.renumbered(by: match.sequence, discontinuity: match.discontinuity) }
        // An older state of the same playlist: the known segments reach further.
        if let end = renumbered.last, end.sequence < last.sequence, !playlist.hasEnded { return false }
        if playlist.skippedCount > 0 { renumbered = completed(renumbered, of: playlist, match.sequence, known) }
        (sequenceShift, discontinuityShift, olderLoads) = (match.sequence, match.discontinuity, 0)
        take(joined(known, renumbered), playlist)
        return true
    }

    /// The segments of a delta update, behind the known segments that it leaves out. Its segments have the known
    /// initialization section, and continue the known dates, where these were left out with them.
    private func completed(
        _ segments: [MediaSegment],
        of playlist: HLSMediaPlaylist,
        _ shift: Int64,
        _ known: [MediaSegment]
    ) -> [MediaSegment] {
        guard let first = segments.first else { return segments }
        let begin = playlist.mediaSequence.saturatingAdd(shift)
        let skipped = known.filter { $0.sequence >= begin && $0.sequence < first.sequence }
        let same = index.segment(numbered: first.sequence)
        let section = same?.sharedInitialization ?? known.last?.sharedInitialization
        var date = same?.wallTime ?? skipped.last.flatMap { $0.wallTime?.advanced(nanoseconds: $0.duration) }
        return skipped
            + segments.map { segment in
                var segment = segment
                segment.sharedInitialization = segment.sharedInitialization ?? section
                segment.wallTime = segment.wallTime ?? date
                date = segment.wallTime?.advanced(nanoseconds: segment.duration)
                return segment
            }
    }

    /// Takes the segment that the server is producing, behind the complete ones. An older state of it, from another
    /// edge of a network, changes nothing.
    ///
    /// - Returns: whether it has more parts than before.
    @discardableResult
    mutating func takeOpenSegment(of playlist: HLSMediaPlaylist) -> Bool {
        guard usesParts else { return false }
        control = playlist.control
        let open = openSegment(of: playlist)
        let next = index.last?.sequence.saturatingAdd(1)
        let isKnown = openSegment?.sequence == next && !index.isComplete
        let (count, knownCount) = (open?.parts.count ?? 0, isKnown ? openSegment?.parts.count ?? 0 : 0)
        if count < knownCount { return false }
        (preloadHint, initializationHint) = (playlist.preloadHint, playlist.initializationHint)
        openSegment = open
        return count > knownCount
    }

    /// The segment that the server is producing, at the end of the complete ones; nil if it is complete by now, because
    /// its parts then add nothing.
    private func openSegment(of playlist: HLSMediaPlaylist) -> MediaSegment? {
        let new = playlist.openSegment?.renumbered(by: sequenceShift, discontinuity: discontinuityShift)
        guard var open = new, let last = index.last else { return new }
        guard open.sequence == last.sequence.saturatingAdd(1) else { return nil }
        open.start = last.end
        open.sharedInitialization = open.sharedInitialization ?? last.sharedInitialization
        open.wallTime = open.wallTime ?? last.wallTime?.advanced(nanoseconds: last.duration)
        return open
    }

    private mutating func take(_ segments: [MediaSegment], _ playlist: HLSMediaPlaylist) {
        index = SegmentIndex(segments, isComplete: playlist.hasEnded, targetDuration: playlist.targetDuration)
        kind = playlist.kind
        declaredLatency = Self.declaredLatency(of: playlist, usesParts: usesParts)
        asksForCatchUp = playlist.control.declaresHoldBack
        targetLatency = declaredLatency ?? playlist.targetDuration.saturatingMultiply(3)
    }

    /// Returns the difference between the numbers of a reload and the known numbers; nil without common segments.
    private func match(_ segments: [MediaSegment]) -> (sequence: Int64, discontinuity: Int64)? {
        var mismatch: (MediaSegment, MediaSegment)?
        for segment in segments {
            guard let known = index.segment(numbered: segment.sequence.saturatingAdd(sequenceShift)) else { continue }
            if known.isSame(as: segment, within: index.targetDuration) {
                return (sequenceShift, known.discontinuity.saturatingSubtract(segment.discontinuity))
            }
            mismatch = mismatch ?? (known, segment)
        }
        if let (known, segment) = sharedByAddress(segments) {
            let shift = known.sequence.saturatingSubtract(segment.sequence)
            return (shift, known.discontinuity.saturatingSubtract(segment.discontinuity))
        }
        // Numbers and dates that agree are trusted, independent of the addresses.
        guard let (known, segment) = mismatch, let date = known.wallTime, let other = segment.wallTime,
            date.nanoseconds(since: other).magnitude < 500_000_000
        else { return nil }
        return (sequenceShift, known.discontinuity.saturatingSubtract(segment.discontinuity))
    }

    private func sharedByAddress(_ segments: [MediaSegment]) -> (MediaSegment, MediaSegment)? {
        var known: [MediaSegment.Name: MediaSegment] = [:]
        var ambiguous: Set<MediaSegment.Name> = []
        for segment in index where known.updateValue(segment, forKey: segment.name) != nil {
            ambiguous.insert(segment.name)
        }
        for segment in segments where !ambiguous.contains(segment.name) {
            if let match = known[segment.name], match.datesAgree(with: segment, within: index.targetDuration) {
                return (match, segment)
            }
        }
        return nil
    }

    /// Segments that remain keep their position and take the newest address; new segments follow.
    private mutating func joined(_ known: [MediaSegment], _ renumbered: [MediaSegment]) -> [MediaSegment] {
        guard let first = renumbered.first, let oldest = known.first, let newest = known.last,
            oldest.sequence <= newest.sequence
        else { return known }
        var kept: [MediaSegment] = []
        for segment in renumbered where oldest.sequence...newest.sequence ~= segment.sequence {
            guard var place = index.segment(numbered: segment.sequence) else { continue }
            (place.url, place.byteRange, place.isGap) = (segment.url, segment.byteRange, segment.isGap)
            (place.initialization, place.encryption) = (segment.initialization, segment.encryption)
            place.wallTime = segment.wallTime ?? place.wallTime
            place.parts = usableParts(of: segment)
            kept.append(place)
        }
        // An event's playlist must not remove segments; a playlist that does is trusted.
        if first.sequence < oldest.sequence, kind != .live {
            noticeList.add(.earlierSegments)
        }
        return appended(renumbered.filter { $0.sequence > newest.sequence }, to: kept)
    }

    /// No common segments: the window moved past all known segments, or the server restarted, or the load is old.
    ///
    /// While another variant plays, the window of this one moves on unseen: its place is that of the same numbers.
    ///
    /// - Returns: false if the load changes nothing.
    private mutating func mergeUnmatched(
        _ playlist: HLSMediaPlaylist,
        on axis: TimelineAxis,
        _ first: MediaSegment,
        _ last: MediaSegment
    ) -> Bool {
        guard let head = playlist.segments.first, let tail = playlist.segments.last else { return false }
        let sequence = head.sequence.saturatingAdd(sequenceShift)
        if sequence > last.sequence {
            let missed = sequence.saturatingSubtract(last.sequence).saturatingSubtract(1)
            let shared = isNumberedAlike ? axis.startByNumber(of: playlist, movedBy: sequenceShift) : nil
            if missed > 0, shared == nil { noticeList.add(.missedSegments) }
            let guess = shared ?? last.end.saturatingAdd(missed.saturatingMultiply(playlist.targetDuration))
            restart(playlist, sequence, byDate(head, after: last, else: guess))
            return true
        }
        olderLoads += 1
        let isOlder = tail.wallTime.flatMap { date in last.wallTime.map { date <= $0 } } ?? (olderLoads < 2)
        if isOlder, olderLoads < 4 { return false }
        noticeList.add(.restartedNumbers)
        let next = last.discontinuity.saturatingAdd(1).saturatingSubtract(head.discontinuity)
        discontinuityShift = next
        restart(playlist, last.sequence.saturatingAdd(1), byDate(head, after: last, else: last.end))
        return true
    }

    private func byDate(_ segment: MediaSegment, after last: MediaSegment, else guess: Int64) -> Int64 {
        guard let date = segment.wallTime, let anchor = dateAnchor else { return guess }
        let start = anchor.start.saturatingAdd(date.nanoseconds(since: anchor.date))
        // Within an hour of the estimate, so that a wrong date does not create a gap of hours.
        let isNear = start.saturatingSubtract(guess).magnitude < 3_600_000_000_000
        return start >= last.end && isNear ? start : guess
    }

    private mutating func restart(_ playlist: HLSMediaPlaylist, _ sequence: Int64, _ start: Int64) {
        guard let head = playlist.segments.first else { return }
        sequenceShift = sequence.saturatingSubtract(head.sequence)
        olderLoads = 0
        let moved = playlist.segments.map {
            $0.renumbered(by: sequenceShift, discontinuity: discontinuityShift).moved(
                by: start.saturatingSubtract(head.start)
            )
        }
        dateAnchor = nil
        take(appended(moved, to: []), playlist)
    }

    /// The parts of a segment; none if the player uses none.
    private func usableParts(of segment: MediaSegment) -> [PartialSegment] { usesParts ? segment.parts : [] }

    /// Appends segments, each at the end of the previous segment.
    ///
    /// Durations in playlists are rounded, so their sum drifts from the programme dates, differently for each
    /// rendition. While a playlist is live, a segment that is more than 100 ms off its date is moved to the date;
    /// dates that jump by more than a target duration belong to the content and are ignored.
    mutating func appended(_ new: [MediaSegment], to known: [MediaSegment]) -> [MediaSegment] {
        // A playlist that is kept shares the memory of its segments, as long as none of them changes.
        var segments = known.isEmpty ? new : known + new
        var previous = known.last
        for place in known.count..<segments.count {
            var segment = segments[place]
            segment.parts = usableParts(of: segment)
            if let previous { segment.start = previous.end }
            if let date = segment.wallTime, !index.isComplete {
                if let anchor = dateAnchor {
                    let dated = anchor.start.saturatingAdd(date.nanoseconds(since: anchor.date))
                    let drift = dated.saturatingSubtract(segment.start)
                    if drift.magnitude > max(index.targetDuration, 1_000_000_000).magnitude {
                        dateAnchor = DateAnchor(date: date, start: segment.start)
                    } else if drift.magnitude > 100_000_000 {
                        segment.start = max(dated, previous?.start ?? dated)
                    }
                } else {
                    dateAnchor = DateAnchor(date: date, start: segment.start)
                }
            }
            if segment.start != segments[place].start || segment.parts != segments[place].parts {
                segments[place] = segment
            }
            previous = segment
        }
        return segments
    }
}
