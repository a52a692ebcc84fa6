internal import Instrument
internal import InstrumentManifests

/// The loading of subtitles beside video and audio: the chosen rendition, the next segment, and the cues so far.
///
/// The rest of the playback never waits for subtitles.
struct SubtitleLoading: Sendable {
    /// A segment whose subtitles were loaded, which no jump loads again.
    private struct Loaded: Hashable {
        var rendition: Rendition.ID
        var sequence: Int64
        var start: Int64
    }

    /// What a choice depends on.
    private struct Offer: Hashable {
        var variant: Variant.ID
        var count: Int
        var audioLanguage: String?
    }

    /// The number of loaded segments that are remembered, of hours of subtitles.
    private static let memory = 4096
    /// After a start or a jump, subtitles may come this much later than video and audio without being late.
    private static let startTolerance: Int64 = 1_000_000_000

    private let selection: SubtitleSelection
    /// The rendition that is loaded; nil before a choice, and if no subtitles are wanted or offered.
    private(set) var rendition: Rendition.ID?
    private(set) var track: TrackLoading?
    /// The cues of all loaded segments; a cue that several segments repeat counts in each.
    private(set) var cueCount = 0
    /// The failure of the latest request that is retried; nil without one.
    private(set) var latestFailure: String?
    /// Whether no subtitles are loaded, whatever the stream offers.
    private(set) var isOff: Bool
    private var hasToldAbsence = false
    /// The offer of the latest choice: every event of a playback asks, and a stream may offer thousands.
    private var latestOffer: Offer?
    private var loaded: Set<Loaded> = []
    private var loadedOrder: [Loaded] = []
    /// The position of the start or of the latest jump, until its first segment is loaded.
    private var placedAt: Int64?
    /// The position whose subtitles were reported as late.
    private var toldLateAt: Int64?

    init(_ selection: SubtitleSelection) {
        self.selection = selection
        isOff = selection == .off
    }

    /// Whether segments are left to load.
    var isLoading: Bool { !isOff && rendition != nil && track?.isAtEnd == false }

    /// Whether a request is for subtitles alone.
    func concerns(_ purpose: FetchPurpose) -> Bool {
        purpose.role == .subtitles || rendition.map { purpose.rendition == $0 } ?? false
    }

    /// The position from which on the next subtitles are late; nil if none are expected, or if that was reported.
    var lateFrom: Int64? {
        guard isLoading, let track else { return nil }
        var due = track.plan?.segment?.start ?? track.loadedEnd
        if let placedAt { due = max(due, placedAt.saturatingAdd(Self.startTolerance)) }
        return due == toldLateAt ? nil : due
    }

    func hasLoaded(_ segment: MediaSegment) -> Bool {
        key(segment).map(loaded.contains) ?? false
    }

    private func key(_ segment: MediaSegment) -> Loaded? {
        rendition.map { Loaded(rendition: $0, sequence: segment.sequence, start: segment.start) }
    }
}

// MARK: Changes
extension SubtitleLoading {
    /// What a choice changes.
    enum Choice: Hashable, Sendable {
        case unchanged
        /// Another rendition is loaded from now on.
        case chosen(Rendition)
        /// The stream does not have the language that is wanted.
        case absent(language: String, found: [String])
    }

    /// Chooses from the subtitles of the variant that plays.
    mutating func choose(
        of variant: Variant,
        audioLanguage: String?,
        in manifest: ManifestLoading,
        at position: Int64
    ) -> Choice {
        let offer = Offer(variant: variant.id, count: variant.subtitles.count, audioLanguage: audioLanguage)
        if isOff || offer == latestOffer { return .unchanged }
        latestOffer = offer
        if rendition.map(variant.subtitles.contains) ?? false { return .unchanged }
        let offered = variant.subtitles.compactMap { manifest[$0]?.rendition }
        guard let choice = selection.choice(from: offered, audioLanguage: audioLanguage) else {
            guard case .language(let language) = selection, rendition == nil, !hasToldAbsence else { return .unchanged }
            hasToldAbsence = true
            // A few languages are enough for a message.
            return .absent(language: language, found: offered.prefix(20).map { $0.language ?? "und" })
        }
        rendition = choice.id
        if track == nil {
            track = TrackLoading(at: position)
            placedAt = position
        } else {
            track?.dropPlan()
        }
        return .chosen(choice)
    }

    /// Plans the next segment.
    mutating func plan() {
        guard let rendition else { return }
        track?.choose(rung: 0, rendition: rendition)
    }

    mutating func step(in timeline: RenditionTimeline, at wallTime: WallTime) -> TrackLoading.Step {
        track?.step(in: timeline, at: wallTime) ?? .end
    }

    /// Takes the content of the planned segment.
    mutating func take(_ content: SubtitleContent, of segment: MediaSegment) {
        cueCount = cueCount.saturatingAdd(content.cueCount)
        if let key = key(segment), loaded.insert(key).inserted {
            loadedOrder.append(key)
            // In large steps, so that each segment costs the same.
            if loadedOrder.count > 2 * Self.memory {
                for old in loadedOrder.prefix(Self.memory) { loaded.remove(old) }
                loadedOrder.removeFirst(Self.memory)
            }
        }
        pass(segment)
    }

    /// Continues behind the planned segment, whose subtitles are loaded already.
    mutating func pass(_ segment: MediaSegment) {
        (placedAt, latestFailure) = (nil, nil)
        track?.finish(segment, end: segment.end)
        track?.leaveBehind(segment.start)
    }

    /// Continues behind a segment without subtitles.
    mutating func skip(_ segment: MediaSegment) {
        (placedAt, latestFailure) = (nil, nil)
        track?.skip(segment)
    }

    /// Continues at another position.
    mutating func move(to position: Int64) {
        guard track != nil else { return }
        track?.move(to: position)
        (placedAt, toldLateAt) = (position, nil)
    }

    /// Continues with the oldest segment of a live window.
    mutating func jump(over first: MediaSegment) { track?.move(to: first.start) }

    mutating func noteLate(at position: Int64) { toldLateAt = position }

    /// Notes a failed request that is retried.
    mutating func noteFailure(_ message: String) { latestFailure = message }

    /// Loads no more subtitles in this playback.
    mutating func giveUp() {
        isOff = true
        track?.end()
    }

    /// Adopts a reloaded manifest; false if its rendition no longer exists, so that requests have to be cancelled.
    mutating func adopt(_ change: LadderChange) -> Bool {
        guard let rendition, !change.renditions.contains(rendition) else { return true }
        (self.rendition, latestOffer) = (nil, nil)
        track?.dropPlan()
        return false
    }
}
