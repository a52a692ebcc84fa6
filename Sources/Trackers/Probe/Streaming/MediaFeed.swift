internal import Instrument
internal import InstrumentManifests

/// Converts the content of segments into media for the playback model: places segments on the presentation's timeline,
/// and computes when their media became playable.
struct MediaFeed: Sendable {
    /// A segment whose content, or the first part of it, has arrived.
    struct Delivery: Sendable {
        var role: StreamRole
        var plan: TrackLoading.Plan
        var segment: MediaSegment
        /// The tracks of the playback.
        var roles: Set<StreamRole>
        /// The variant of the main track's plan.
        var variant: Variant?
        /// The language of the audio track's rendition.
        var language: String?
    }

    /// The part of a plan's segment that the model has received.
    private struct Progress {
        var plan: Int
        var placement: StreamTimeline.Placement?
        /// The end of the last point that the model has received, by kind.
        var fed: [PlaybackModel.Track: Int64] = [:]
        /// The number of bytes at the last demuxing of the part.
        var demuxedCount = 0
    }

    /// A rendition's latest segment: the end of its media, and their kinds.
    private struct LastSegment {
        var segment: MediaSegment
        var end: Int64
        var kinds: Set<PlaybackModel.Track>
    }

    private let isProgressive: Bool
    private let lookahead: PlayerProfile.DemuxerLookahead
    /// The ends of pictures that the player's demuxer has read and not returned.
    private var heldPictures: [Int64] = []
    private var timeline = StreamTimeline()
    private var progress: [StreamRole: Progress] = [:]
    /// The kinds of media in the segments of each track; empty before the first segment.
    private var kinds: [StreamRole: Set<PlaybackModel.Track>] = [:]
    /// Media that arrived before all tracks were known.
    private var waiting: [MediaArrival] = []
    /// The end of the media of each rendition's latest segment.
    private var lastEnds: [Rendition.ID: LastSegment] = [:]
    /// The renditions of which one segment was inspected closely.
    private var inspected: Set<Rendition.ID> = []

    init(
        _ use: PlayerProfile.SegmentUse,
        _ lookahead: PlayerProfile.DemuxerLookahead = PlayerProfile.DemuxerLookahead()
    ) {
        isProgressive = use == .progressive
        self.lookahead = lookahead
    }

    /// Whether the next segment of a rendition has to be inspected closely, which takes longer: once for each
    /// rendition.
    func needsInspection(_ id: Rendition.ID) -> Bool { !inspected.contains(id) }

    /// Whether the model waits for media, so that parts of segments matter.
    func wantsParts(_ view: PlaybackView) -> Bool { isProgressive && view.model?.isWaiting ?? true }

    /// Whether the model waits, or is about to.
    ///
    /// - Returns: nil if parts of segments do not matter now; else whether the model is out of media.
    func urgency(_ view: PlaybackView) -> Bool? {
        guard isProgressive else { return nil }
        let isStarving = view.model?.nextDeadline(after: view.instant).map { $0 <= view.instant } ?? false
        return isStarving || wantsParts(view) ? isStarving : nil
    }

    /// Whether enough of a segment is new to demux its first part once more.
    ///
    /// Each attempt reads the part from its beginning. The required growth is proportional, so that a slow segment
    /// costs only a few times as much as a complete one. Media counts from the instant of its arrival, so that the wait
    /// does not change the result. At the instant of starvation nearly every byte counts: a frame that had arrived
    /// prevents the stall, and each frame is at most one reason to look again.
    mutating func takePart(of count: Int, _ role: StreamRole, _ plan: TrackLoading.Plan, isStarving: Bool) -> Bool {
        guard let segment = plan.segment, segment.hasReadableContainer else { return false }
        var progress = progress(of: plan, role)
        let known = progress.demuxedCount
        guard count > known, count >= known + (isStarving ? known / 4096 : max(2048, known / 16)) else { return false }
        progress.demuxedCount = count
        self.progress[role] = progress
        return true
    }

    /// Discards media that the model has not received, after a jump or at the end.
    mutating func dropWaiting() {
        waiting = []
        heldPictures = []
    }

    /// The pictures that the demuxer returns at the end of the stream.
    mutating func takeHeldPictures(at now: MonotonicInstant) -> [MediaArrival] {
        defer { heldPictures = [] }
        return heldPictures.last.map { [MediaArrival(track: .video, end: $0, instant: now)] } ?? []
    }

    /// Removes all renditions except these.
    mutating func keepOnly(_ kept: Set<Rendition.ID>) {
        lastEnds = lastEnds.filter { kept.contains($0.key) }
        inspected.formIntersection(kept)
    }

    /// The offset that the timestamps of a plan's segment received; nil before the segment was placed.
    func offset(of plan: TrackLoading.Plan, _ role: StreamRole) -> Int64? { progress(of: plan, role).placement?.offset }

    private func progress(of plan: TrackLoading.Plan, _ role: StreamRole) -> Progress {
        if let known = progress[role], known.plan == plan.number { return known }
        return Progress(plan: plan.number)
    }
}

// MARK: Segments
extension MediaFeed {
    /// Passes the media of a segment, or of its arrived part, to the model.
    mutating func take(
        _ content: SegmentContent,
        _ arrivals: ArrivalLog,
        isWhole: Bool,
        _ delivery: Delivery,
        _ view: PlaybackView
    ) -> [StreamEffect] {
        if isWhole { inspected.insert(delivery.plan.rendition) }
        let (role, segment) = (delivery.role, delivery.segment)
        let found = kinds(of: content, delivery)
        guard let media = found.contains(.video) ? content.video : content.main,
            isWhole || kinds[role]?.isEmpty == false || found.allSatisfy({ content[$0] != nil })
        else { return [] }
        if kinds[role, default: []].isEmpty { kinds[role] = Set(found.filter { content[$0] != nil }) }
        var progress = progress(of: delivery.plan, role)
        var effects: [StreamEffect] = []
        let placement = progress.placement ?? place(media, content, delivery, &effects)
        progress.placement = placement
        if isWhole, let missing = missingTrack(in: content, delivery) { effects.append(.warned(missing)) }
        let isNew = role == .main && progress.fed.isEmpty
        let begin = media.start.saturatingAdd(placement.offset)
        // What a segment has before its period is not shown.
        let shown = segment.trimmedStart > 0 ? max(begin, segment.start) : begin
        let quality = isNew ? self.quality(content, at: shown, delivery) : nil
        // Before the start, the quality is that of the first picture. Later, it follows the media: if the model's time
        // advanced before the model has the media, playback would stall.
        let isPlaying = view.model?.hasStarted == true
        if let quality, !isPlaying { effects.append(quality) }
        var placed = PlacedSegment(segment: segment, placement: placement, log: arrivals)
        let usesPoints = isProgressive && segment.hasReadableContainer
        let isMain = role == .main && usesPoints
        if usesPoints { placed.lookahead = lookahead }
        if isMain { placed.heldPictures = heldPictures }
        let arrived = placed.arrivals(
            of: content,
            kinds[role, default: []],
            isWhole: isWhole,
            usesPoints: usesPoints,
            fed: &progress.fed
        )
        if isMain, isWhole { heldPictures = placed.picturesToHold(of: content) }
        self.progress[role] = progress
        waiting += arrived
        var isOpen = view.model != nil
        if !isOpen, let tracks = openedTracks(content, delivery) {
            effects.append(.opened(tracks))
            isOpen = true
        }
        if isOpen { effects += takeWaiting() }
        if let quality, isPlaying { effects.append(quality) }
        return effects
    }

    /// Records the end of the media of a complete segment.
    ///
    /// - Returns: that position on the presentation's timeline.
    mutating func finish(_ content: SegmentContent, _ delivery: Delivery) -> Int64 {
        let placement = progress(of: delivery.plan, delivery.role).placement
        let media = content[delivery.role == .main ? .video : .audio] ?? content.main
        let end = media.map { PlacedSegment.end($0.end, of: $0, delivery.segment, placement) } ?? delivery.segment.end
        lastEnds[delivery.plan.rendition] = LastSegment(segment: delivery.segment, end: end, kinds: content.kinds)
        return end
    }

    /// Lets time pass over a missing segment, as a player that continues to show the last picture.
    mutating func skip(_ segment: MediaSegment, _ role: StreamRole, _ view: PlaybackView) -> [StreamEffect] {
        if role == .main { waiting += takeHeldPictures(at: view.instant) }
        for kind in PlaybackModel.Track.allCases where kinds[role, default: []].contains(kind) {
            waiting.append(MediaArrival(track: kind, end: segment.end, instant: view.instant))
        }
        return view.model == nil ? [] : takeWaiting()
    }

    /// The waiting media in the order of its arrival, whatever its track.
    private mutating func takeWaiting() -> [StreamEffect] {
        defer { waiting = [] }
        return waiting.sorted { $0.instant < $1.instant }.map { .received($0) }
    }

    private func kinds(of content: SegmentContent, _ delivery: Delivery) -> [PlaybackModel.Track] {
        switch delivery.role {
        case .audio: return [.audio]
        case .subtitles: return []
        case .main:
            let hasOwnAudio = delivery.roles.contains(.audio)
            return [.video, .audio].filter { kind in
                content.streams.contains(kind) && !(kind == .audio && hasOwnAudio && content.streams.contains(.video))
            }
        }
    }

    /// Places a segment on the timeline; a jump of its timestamps is a warning.
    private mutating func place(
        _ media: TrackContent,
        _ content: SegmentContent,
        _ delivery: Delivery,
        _ effects: inout [StreamEffect]
    ) -> StreamTimeline.Placement {
        let segment = delivery.segment
        var previous: Int64?
        if let last = lastEnds[delivery.plan.rendition], segment.follows(last.segment) {
            previous = last.end
        }
        let expected = StreamTimeline.Expectation(
            discontinuity: segment.discontinuity,
            start: segment.mediaStart,
            duration: segment.mediaDuration,
            offset: segment.mediaOffset,
            previousEnd: previous
        )
        let placement = timeline.place(media.start, of: content, expected: expected)
        if let jump = placement.jump {
            let message = "the timestamps of segment \(segment.sequence) jump by \(jump / 1_000_000) ms"
            effects.append(.warned(StreamWarning(.timestampJump, message, segment.url)))
        }
        return placement
    }

    /// Reports a kind of media that the segment before in the same rendition has. Its last segment may be too short.
    private func missingTrack(in content: SegmentContent, _ delivery: Delivery) -> StreamWarning? {
        let segment = delivery.segment
        guard segment.part == nil, segment.duration >= 1_000_000_000,
            let last = lastEnds[delivery.plan.rendition], segment.follows(last.segment),
            segment.discontinuity == last.segment.discontinuity,
            let kind = last.kinds.subtracting(content.kinds).first
        else { return nil }
        let name = kind == .video ? "pictures" : "sound"
        let message = "segment \(segment.sequence) has no \(name), which the segment before has"
        return StreamWarning(.missingTrack, message, segment.url)
    }

    private func quality(_ content: SegmentContent, at position: Int64, _ delivery: Delivery) -> StreamEffect? {
        guard let variant = delivery.variant else { return nil }
        let quality = Quality(
            width: content.video?.pictureSize?.width ?? variant.resolution?.width ?? 0,
            height: content.video?.pictureSize?.height ?? variant.resolution?.height ?? 0,
            bitrate: Int(clamping: delivery.segment.peakBitrate ?? variant.averageBitrate ?? variant.peakBitrate)
        )
        return .qualityChanges(quality, at: max(0, position))
    }

    /// The tracks of the playback, once the content of each one is known.
    private func openedTracks(_ content: SegmentContent, _ delivery: Delivery) -> OpenedTracks? {
        guard delivery.roles.allSatisfy({ !kinds[$0, default: []].isEmpty }) else { return nil }
        let all = delivery.roles.reduce(into: Set<PlaybackModel.Track>()) { $0.formUnion(kinds[$1, default: []]) }
        return OpenedTracks(
            hasVideo: all.contains(.video),
            hasAudio: all.contains(.audio),
            framesPerSecond: content.video?.framesPerSecond ?? delivery.variant?.frameRate,
            language: delivery.language ?? content.audio?.language,
            isTransmuxed: delivery.segment.initialization == nil,
            instant: waiting.map(\.instant).min() ?? MonotonicInstant(nanoseconds: 0)
        )
    }
}

extension MediaSegment {
    /// Whether a segment or part is the next one after another.
    fileprivate func follows(_ other: MediaSegment) -> Bool {
        if let part = other.part, sequence == other.sequence { return self.part == part + 1 }
        return sequence == other.sequence.saturatingAdd(1) && (part ?? 0) == 0
    }
}
