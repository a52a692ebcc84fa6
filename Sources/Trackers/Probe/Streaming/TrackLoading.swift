internal import Instrument
internal import InstrumentManifests

/// The loading state of one track of a stream: the end of its buffer, and the next segment.
struct TrackLoading: Sendable {
    private enum Cursor: Hashable {
        /// The segment that plays at `lookup`, which is a time that the track needs media for, or one before it.
        case time(Int64, lookup: Int64)
        /// The segment whose middle is behind a time.
        case behind(Int64)
        /// The segment or part after a segment of `rendition`, or one of its parts, that ended at `end`.
        case after(sequence: Int64, part: Int?, rendition: Rendition.ID, end: Int64)
    }

    /// A rendition that was chosen for the next segment, and the segment once it is known.
    struct Plan: Hashable, Sendable {
        /// Distinguishes this plan from earlier plans of the track.
        let number: Int
        fileprivate(set) var rung: Int
        let rendition: Rendition.ID
        /// Whether the player requests a part at once behind the one before it, without another look at the throughput.
        let isContinuation: Bool
        fileprivate(set) var segment: MediaSegment?
        /// The instant before which the player works on what the request waited for; nil for at once.
        fileprivate(set) var begins: MonotonicInstant?
    }

    /// The player's look at the buffer, from which it plans the next segment.
    struct Look: Hashable, Sendable {
        /// The instant at which the player looks again whether it can request the next segment; nil for at once.
        fileprivate(set) var next: MonotonicInstant?
        /// Whether the player came too late for a look, so that it takes the next one however late it comes.
        fileprivate var hasMissed = false
        /// The buffer level at which the adaptation rule allows the next request.
        fileprivate(set) var untilBuffered: Int64?
    }

    /// The next step of a plan.
    enum Step: Hashable, Sendable {
        /// The segment was chosen; the track can take another step at once.
        case chosen
        case fetch(MediaSegment)
        /// The playlist declares the segment as a gap.
        case gap(MediaSegment)
        /// The next segment has left the live window; `first` is the oldest segment in the window.
        case expired(first: MediaSegment)
        /// The next segment does not exist yet.
        case wait
        /// The last segment was loaded.
        case end
    }

    /// A segment in the buffer.
    private struct Loaded: Hashable {
        var start: Int64
        var end: Int64
        var rung: Int

        /// Whether a segment covers the middle of this one; boundaries of renditions may differ slightly.
        func isReplaced(by segment: MediaSegment) -> Bool {
            let middle = start.saturatingAdd((end - start) / 2)
            return middle >= segment.start && middle < segment.end
        }
    }

    private var cursor: Cursor
    @Indirect private(set) var phase = Phase.looking(Look())
    private var planCount = 0
    /// The number of a plan whose segment comes from another server than the next one.
    private var planOfOtherServer: Int?
    /// The end of the media that the model has received or will receive.
    private(set) var loadedEnd: Int64
    /// The segments in the buffer and their rungs, in the order of their starts.
    private var loaded: [Loaded] = []
    private static let acceptedLateness: Duration = .milliseconds(50)
    /// The rung of the previous segment.
    private(set) var rung: Int?
    /// The rendition of the previous segment.
    private(set) var rendition: Rendition.ID?
    private(set) var segmentCount = 0
    /// Whether the player has waited for the next segment or part.
    private var hasWaited = false
    /// Whether the track has more steps to take at once, after other tracks had their turn.
    var takesBreak = false

    /// Creates a track that begins at a position, with the segment of an earlier time if `lookup` is one.
    init(at position: Int64, from lookup: Int64? = nil) {
        cursor = .time(position, lookup: lookup ?? position)
        loadedEnd = position
    }

    var plan: Plan? { phase.plan }
    var isAtEnd: Bool { phase == .ended }
    /// The buffer level at which the adaptation rule allows the next request.
    var waitUntilBuffered: Int64? { phase.look?.untilBuffered }

    /// The rendition that is played.
    var renditionInUse: Rendition.ID? { plan?.rendition ?? rendition }

    /// The media ahead of a position.
    func level(at position: Int64) -> Int64 { max(0, loadedEnd.saturatingSubtract(position)) }

    /// The time from which on the track needs media, as the manifest has it: segments may be a little longer or shorter
    /// than declared.
    var timeNeeded: Int64 {
        switch cursor {
        case .time(let time, _), .behind(let time), .after(_, _, _, let time): time
        }
    }

    /// The rung of the next segment if it is known, else of the previous segment.
    var currentRung: Int? { plan?.rung ?? rung }

    /// The buffer level below which the track loads, given the level at which the player pauses.
    func wantedLevel(maximum: Duration) -> Int64 { min(maximum.nanoseconds, waitUntilBuffered ?? .max) }

    /// The instant from which on the player finds room that is there at `instant`: it may look only now and then.
    func check(for instant: MonotonicInstant, interval: Duration) -> MonotonicInstant {
        guard let next = phase.look?.next, interval > .zero else { return instant }
        if instant <= next { return next }
        let late = next.duration(to: instant).nanoseconds
        let rounds = late / interval.nanoseconds + (late % interval.nanoseconds == 0 ? 0 : 1)
        return next.advanced(by: interval * Int(clamping: rounds))
    }

    /// Whether the player looks now whether it can request the next segment: in its rhythm, and a little late at most.
    func looks(at now: MonotonicInstant, interval: Duration) -> Bool {
        guard let look = phase.look, let next = look.next else { return true }
        guard next <= now, interval > .zero, !look.hasMissed else { return next <= now }
        let late = next.duration(to: now).nanoseconds % interval.nanoseconds
        return late <= Self.acceptedLateness.nanoseconds
    }

    /// Whether the last segment was loaded, so that no other variant can have a next segment.
    func hasLoadedAll(of manifest: ManifestLoading) -> Bool {
        guard case .after(let sequence, let part, let rendition, let end) = cursor,
            let index = manifest[rendition]?.index, index.isComplete, let last = index.lastTimes
        else { return false }
        return sequence > last.sequence || sequence == last.sequence && (part == nil || end >= last.end)
    }

    /// The rung and the rendition of the segment whose parts are being loaded; nil where the player may change the
    /// rendition: between two segments, or, depending on its policy, also where it waits for the next part.
    func segmentInParts(
        of manifest: ManifestLoading,
        change: LivePolicy.ChangeAtEdge
    ) -> (rung: Int, rendition: Rendition.ID)? {
        guard case .after(let sequence, let part?, let rendition, let end) = cursor, rendition == self.rendition,
            let rung, let timeline = manifest[rendition]?.timeline
        else { return nil }
        switch change {
        case .waits: if !timeline.isComplete(sequence) { return (rung, rendition) }
        case .loadsAgain: if hasWaited { return nil }
        }
        return timeline.unit(after: sequence, part: part, endingAt: end)?.sequence == sequence ? (rung, rendition) : nil
    }

    /// Whether a part that a playlist of the planned rendition hints at is what the track needs next.
    func awaits(_ hinted: MediaSegment, in timeline: RenditionTimeline) -> Bool {
        switch cursor {
        case .after(let sequence, let part, let rendition, _) where rendition == plan?.rendition:
            if hinted.sequence == sequence { return hinted.part == part.map { $0 + 1 } }
            return hinted.part == 0 && hinted.sequence == sequence.saturatingAdd(1)
        case .after(_, _, _, let end), .behind(let end):
            // Of another rendition, only the first part of a segment is sure to be decodable.
            return hinted.part == 0 && hinted.start.saturatingSubtract(end).magnitude < hinted.duration.magnitude / 4
        case .time: return false
        }
    }

    /// The next segment, as adaptation rules see it.
    func nextSegment(in manifest: ManifestLoading) -> AdaptationContext.Segment {
        let index = index(in: manifest)
        var (duration, remaining): (Int64, Int?) = (index?.targetDuration ?? 0, nil)
        if let index, let next = nextTimes(in: index) {
            duration = next.duration
            if index.isComplete, let last = index.lastTimes {
                remaining = Int(clamping: last.sequence.saturatingSubtract(next.sequence).saturatingAdd(1))
            }
        }
        // Before the first playlist: the duration that the HLS Authoring Specification (7.5) recommends.
        if duration <= 0 { duration = 6_000_000_000 }
        return AdaptationContext.Segment(index: segmentCount, duration: .nanoseconds(duration), remaining: remaining)
    }

    /// The duration of the longer one of the rendition's first and next segments, in nanoseconds: that of its longest
    /// segment, as far as that is known without a look at all of them.
    func longSegment(in manifest: ManifestLoading) -> Int64 {
        let known = index(in: manifest)
        guard let first = known?.firstTimes?.duration else { return nextSegment(in: manifest).duration.nanoseconds }
        return max(first, known.flatMap(nextTimes)?.duration ?? first)
    }

    private func index(in manifest: ManifestLoading) -> SegmentIndex? {
        (rendition ?? plan?.rendition).flatMap { manifest[$0]?.index }
    }

    private func nextTimes(in index: SegmentIndex) -> SegmentTimes? {
        guard case .after(let sequence, _, _, _) = cursor else { return nil }
        return index.times(after: sequence)
    }
}

// MARK: Changes
extension TrackLoading {
    private mutating func enter(_ next: Phase) {
        assert(Phase.transitions[phase.name]?.contains(next.name) == true, "\(phase.name) to \(next.name)")
        phase = next
    }

    /// Places a track whose rendition is already chosen, with the segment of an earlier time if `lookup` is one.
    mutating func place(at position: Int64, from lookup: Int64? = nil) {
        cursor = .time(position, lookup: lookup ?? position)
        loadedEnd = position
    }

    /// Continues at another position.
    mutating func move(to position: Int64, from lookup: Int64? = nil) {
        place(at: position, from: lookup)
        enter(.looking(Look()))
        loaded = []
    }

    /// Continues by time and not by number after segments of renditions whose playlists come from another server now.
    mutating func continueByTime(in moved: Set<Rendition.ID>) {
        if let plan, moved.contains(plan.rendition) { planOfOtherServer = plan.number }
        guard case .after(_, _, let rendition, let end) = cursor, moved.contains(rendition) else { return }
        cursor = .behind(end)
    }

    mutating func choose(rung: Int, rendition: Rendition.ID, isContinuation: Bool = false) {
        planCount += 1
        enter(.planned(Plan(number: planCount, rung: rung, rendition: rendition, isContinuation: isContinuation)))
    }

    /// The buffer has no room, or the track is too far ahead: the player looks again after an interval, in a fixed
    /// rhythm.
    ///
    /// - Parameter hasMissed: whether it could request the next segment, and only comes too late for its rhythm.
    mutating func looksLater(than now: MonotonicInstant, interval: Duration, hasMissed: Bool = false) {
        guard interval > .zero, var look = phase.look, (look.next ?? now) <= now else { return }
        look.hasMissed = hasMissed
        look.next = (look.next ?? now).next(after: now, every: interval)
        enter(.looking(look))
    }

    /// The player works on what has come, and looks for the next segment, or requests the planned one, afterwards.
    mutating func works(until instant: MonotonicInstant) {
        switch phase {
        case .looking(var look):
            (look.next, look.hasMissed) = (instant, true)
            enter(.looking(look))
        case .planned(var plan):
            plan.begins = instant
            enter(.planned(plan))
        case .awaiting, .ended: break
        }
    }

    /// The time until the player looks for the next segment, or requests the planned one; nil if it does not wait.
    func pause(at now: MonotonicInstant) -> Duration? {
        let end: MonotonicInstant? =
            switch phase {
            case .looking(let look): look.next
            case .planned(let plan): plan.begins
            case .awaiting, .ended: nil
            }
        return end.flatMap { $0 > now ? now.duration(to: $0) : nil }
    }

    /// Continues at `time`, inside the buffer, if the media there has a lower rung than `rung`: what follows is fetched
    /// again, and replaces the media in the buffer.
    mutating func replaceMedia(below rung: Int, from time: Int64) {
        guard loaded.contains(where: { $0.start <= time && time < $0.end && $0.rung < rung }) else { return }
        cursor = .time(time, lookup: time)
    }

    /// Whether the buffer has a segment's media already.
    func hasMedia(of segment: MediaSegment) -> Bool { loaded.contains { $0.isReplaced(by: segment) } }

    /// Chooses again for the next segment.
    mutating func dropPlan() {
        switch phase {
        case .planned: enter(.looking(Look()))
        case .awaiting(_, let next): enter(.looking(Look(next: next)))
        case .looking, .ended: break
        }
    }

    /// The plan's segment does not exist yet: the player looks again after an interval, or, if that is zero, finds the
    /// segment as soon as it exists.
    mutating func awaitSegment(from now: MonotonicInstant, interval: Duration) {
        guard let plan else { return }
        hasWaited = true
        var next: MonotonicInstant?
        if case .awaiting(_, let earlier) = phase { next = earlier }
        if interval > .zero { next = (next ?? now).next(after: now, every: interval) }
        enter(.awaiting(plan, next: next))
    }

    /// The player chooses again for the segment that it has waited for: by now, another rendition may be better.
    mutating func endWait() {
        if case .awaiting = phase { enter(.looking(Look())) }
    }

    mutating func wait(untilBuffered level: Int64) {
        guard var look = phase.look else { return }
        look.untilBuffered = level
        enter(.looking(look))
    }

    mutating func end() { enter(.ended) }

    /// Takes the next step of the plan.
    mutating func step(
        in timeline: RenditionTimeline,
        at wallTime: WallTime,
        change: LivePolicy.ChangeAtEdge = .waits
    ) -> Step {
        guard let plan else { return .wait }
        guard let segment = plan.segment else { return chooseSegment(for: plan, in: timeline, change) }
        if segment.isGap { return .gap(segment) }
        if let availability = segment.availability, availability > wallTime { return .wait }
        return .fetch(segment)
    }

    /// The plan begins with a look at a segment, wherever playback starts.
    mutating func inspect(_ segment: MediaSegment) { phase.changePlan { $0.segment = segment } }

    /// The plan continues with the segment that playback needs.
    mutating func endInspection() { phase.changePlan { $0.segment = nil } }

    /// Moves the cursor after the plan's segment, whose media ends at `end`.
    mutating func finish(_ segment: MediaSegment, end: Int64) {
        guard let plan else { return }
        rung = plan.rung
        rendition = plan.rendition
        segmentCount += 1
        note(segment, plan.rung)
        pass(segment, plan, end: end)
    }

    /// Forgets the rungs of media behind a position.
    mutating func leaveBehind(_ position: Int64) {
        guard let first = loaded.first, first.end <= position else { return }
        loaded.removeAll { $0.end <= position }
    }

    private mutating func note(_ segment: MediaSegment, _ rung: Int) {
        let new = Loaded(start: segment.start, end: segment.end, rung: rung)
        loaded.removeAll { $0.isReplaced(by: segment) }
        let index = loaded.firstIndex { $0.start >= new.start } ?? loaded.count
        loaded.insert(new, at: index)
    }

    /// Moves the cursor after a missing segment.
    mutating func skip(_ segment: MediaSegment) {
        if let plan { pass(segment, plan, end: segment.end) }
    }

    /// Adopts the rungs of a reloaded manifest.
    ///
    /// - Returns: false if the planned rendition no longer exists, so that its requests have to be cancelled.
    mutating func adopt(_ change: LadderChange) -> Bool {
        rung = rung.map(change.rung)
        for index in loaded.indices { loaded[index].rung = change.rung(for: loaded[index].rung) }
        guard let planned = plan else { return true }
        phase.changePlan { $0.rung = change.rung(for: planned.rung) }
        if change.renditions.contains(planned.rendition) { return true }
        dropPlan()
        return false
    }

    private mutating func pass(_ segment: MediaSegment, _ plan: Plan, end: Int64) {
        cursor =
            plan.number == planOfOtherServer
            ? .behind(segment.end)
            : .after(sequence: segment.sequence, part: segment.part, rendition: plan.rendition, end: segment.end)
        loadedEnd = max(loadedEnd, end)
        hasWaited = false
        dropPlan()
    }

    private mutating func chooseSegment(
        for plan: Plan,
        in timeline: RenditionTimeline,
        _ change: LivePolicy.ChangeAtEdge
    ) -> Step {
        let index = timeline.index
        let found: MediaSegment?
        switch cursor {
        case .time(_, let lookup): found = timeline.unit(containing: lookup)
        case .after(let sequence, let part, plan.rendition, let end):
            if index.hasExpired(sequence.saturatingAdd(1)), let first = index.first { return .expired(first: first) }
            found = timeline.unit(after: sequence, part: part, endingAt: end)
        case .after(_, _, _, let end), .behind(let end):
            if let first = Self.oldestSegment(beyond: end, in: index) { return .expired(first: first) }
            found = Self.unit(behind: end, in: timeline) ?? (change == .loadsAgain ? timeline.newestUnit : nil)
        }
        guard let found else {
            if index.isComplete { end() }
            return index.isComplete ? .end : .wait
        }
        phase.changePlan { $0.segment = found }
        return .chosen
    }

    /// The oldest segment of another rendition, if the media between `end` and that segment has left the live window;
    /// nil otherwise. Boundaries of renditions may differ by less than half a segment.
    private static func oldestSegment(beyond end: Int64, in index: SegmentIndex) -> MediaSegment? {
        guard !index.isComplete, let first = index.first else { return nil }
        let tolerance = max(1_000_000_000, index.targetDuration / 2)
        return first.start.saturatingSubtract(end) > tolerance ? first : nil
    }

    /// The segment or part of another rendition that continues at the end of the previous one; nil if it does not exist
    /// yet. Boundaries may differ slightly: a segment with only a small remainder is skipped.
    private static func unit(behind end: Int64, in timeline: RenditionTimeline) -> MediaSegment? {
        let index = timeline.index
        guard let candidate = index.segment(containing: end) else { return timeline.unit(containing: end) }
        let remainder = candidate.end.saturatingSubtract(end)
        if remainder >= candidate.duration / 4 { return candidate }
        if let next = timeline.unit(after: candidate.sequence, part: nil, endingAt: candidate.end) { return next }
        return index.isComplete && remainder > 100_000_000 ? candidate : nil
    }
}
