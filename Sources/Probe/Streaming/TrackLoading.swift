internal import Instrument
internal import InstrumentManifests

/// How far one track of a stream is loaded, and which segment comes next.
struct TrackLoading: Sendable {
    private enum Cursor: Hashable {
        /// The segment that plays at a time.
        case time(Int64)
        /// The segment behind a segment of `rendition`, which ended at `end`.
        case after(sequence: Int64, rendition: Rendition.ID, end: Int64)
    }

    /// A rendition that was chosen for the next segment, and the segment once it is known.
    struct Plan: Hashable, Sendable {
        /// Distinguishes this plan from earlier plans of the track.
        let number: Int
        fileprivate(set) var rung: Int
        let rendition: Rendition.ID
        fileprivate(set) var segment: MediaSegment?
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

    private var cursor: Cursor
    private var planCount = 0
    private(set) var plan: Plan?
    /// The end of the media that was handed over, or will be.
    private(set) var loadedEnd: Int64
    private(set) var isAtEnd = false
    /// The adaptation rule wants no more before the buffer has drained to this level.
    private(set) var waitUntilBuffered: Int64?
    /// The rung of the previous segment.
    private(set) var rung: Int?
    /// The rendition of the previous segment.
    private(set) var rendition: Rendition.ID?
    private(set) var segmentCount = 0
    /// Whether the track has more steps to take at once, after other tracks had their turn.
    var takesBreak = false

    init(at position: Int64) {
        cursor = .time(position)
        loadedEnd = position
    }

    /// The rendition that is played.
    var renditionInUse: Rendition.ID? { plan?.rendition ?? rendition }

    /// The media ahead of a position.
    func level(at position: Int64) -> Int64 { max(0, loadedEnd.saturatingSubtract(position)) }

    /// The level below which the track wants more.
    func wantedLevel(_ profile: PlayerProfile, _ ladder: BitrateLadder?) -> Int64 {
        let bitrate = (plan?.rung ?? rung).flatMap { rung in ladder.map { $0[rung].peakBitrate } }
        let maximum = bitrate.map { profile.maximumBuffer(bitrate: $0) } ?? profile.buffer.maximum
        return min(maximum.nanoseconds, waitUntilBuffered ?? .max)
    }

    /// Whether the last segment was loaded, so that no other variant has to be asked what follows.
    func hasLoadedAll(of manifest: ManifestLoading) -> Bool {
        guard case .after(let sequence, let rendition, _) = cursor, let index = manifest[rendition]?.index,
            index.isComplete, let last = index.last
        else { return false }
        return sequence >= last.sequence
    }

    /// The next segment, as adaptation rules see it.
    func nextSegment(in manifest: ManifestLoading) -> AdaptationContext.Segment {
        let index = (rendition ?? plan?.rendition).flatMap { manifest[$0]?.index }
        var (duration, remaining): (Int64, Int?) = (index?.targetDuration ?? 0, nil)
        if let index, case .after(let sequence, _, _) = cursor, let next = index.segment(after: sequence) {
            duration = next.duration
            if index.isComplete, let last = index.last {
                remaining = Int(clamping: last.sequence.saturatingSubtract(next.sequence).saturatingAdd(1))
            }
        }
        // Before the first playlist: the length that the HLS Authoring Specification (7.5) advises.
        if duration <= 0 { duration = 6_000_000_000 }
        return AdaptationContext.Segment(index: segmentCount, duration: .nanoseconds(duration), remaining: remaining)
    }
}

// MARK: Changes
extension TrackLoading {
    /// Places a track whose rendition is already chosen.
    mutating func place(at position: Int64) {
        cursor = .time(position)
        loadedEnd = position
    }

    /// Continues at another position.
    mutating func move(to position: Int64) {
        place(at: position)
        plan = nil
        isAtEnd = false
        waitUntilBuffered = nil
    }

    mutating func choose(rung: Int, rendition: Rendition.ID) {
        planCount += 1
        plan = Plan(number: planCount, rung: rung, rendition: rendition)
        waitUntilBuffered = nil
    }

    mutating func dropPlan() { plan = nil }

    mutating func wait(untilBuffered level: Int64) { waitUntilBuffered = level }

    mutating func end() {
        isAtEnd = true
        plan = nil
    }

    /// Takes the next step of the plan.
    mutating func step(in index: SegmentIndex, at wallTime: WallTime) -> Step {
        guard let plan else { return .wait }
        guard let segment = plan.segment else { return chooseSegment(for: plan, in: index) }
        if segment.isGap { return .gap(segment) }
        if let availability = segment.availability, availability > wallTime { return .wait }
        return .fetch(segment)
    }

    /// Moves the cursor behind the plan's segment, whose media ends at `end`.
    mutating func finish(_ segment: MediaSegment, end: Int64) {
        guard let plan else { return }
        rung = plan.rung
        rendition = plan.rendition
        segmentCount += 1
        pass(segment, plan, end: end)
    }

    /// Moves the cursor behind a segment that does not exist.
    mutating func skip(_ segment: MediaSegment) {
        if let plan { pass(segment, plan, end: segment.end) }
    }

    /// Adopts the rungs of a reloaded manifest.
    ///
    /// - Returns: false if the planned rendition no longer exists, so that its requests have to be cancelled.
    mutating func adopt(_ change: LadderChange) -> Bool {
        rung = rung.map(change.rung)
        guard let planned = plan else { return true }
        plan?.rung = change.rung(for: planned.rung)
        if change.renditions.contains(planned.rendition) { return true }
        plan = nil
        return false
    }

    private mutating func pass(_ segment: MediaSegment, _ plan: Plan, end: Int64) {
        cursor = .after(sequence: segment.sequence, rendition: plan.rendition, end: segment.end)
        loadedEnd = max(loadedEnd, end)
        self.plan = nil
    }

    private mutating func chooseSegment(for plan: Plan, in index: SegmentIndex) -> Step {
        let found: MediaSegment?
        switch cursor {
        case .time(let time): found = index.segment(containing: time)
        case .after(let sequence, plan.rendition, _):
            let next = sequence.saturatingAdd(1)
            if index.hasExpired(next), let first = index.first { return .expired(first: first) }
            found = index.segment(numbered: next)
        case .after(_, _, let end): found = Self.segment(behind: end, in: index)
        }
        guard let found else {
            if index.isComplete { end() }
            return index.isComplete ? .end : .wait
        }
        self.plan?.segment = found
        return .chosen
    }

    /// The segment of another rendition that continues where the previous segment ended. Boundaries may differ a
    /// little: a segment of which only a rest is left is not taken.
    private static func segment(behind end: Int64, in index: SegmentIndex) -> MediaSegment? {
        guard let candidate = index.segment(containing: end) else { return nil }
        if candidate.end.saturatingSubtract(end) >= candidate.duration / 4 { return candidate }
        return index.segment(numbered: candidate.sequence.saturatingAdd(1))
            ?? (index.isComplete && candidate.end.saturatingSubtract(end) > 100_000_000 ? candidate : nil)
    }
}
