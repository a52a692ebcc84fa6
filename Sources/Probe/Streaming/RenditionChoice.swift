internal import Instrument
internal import InstrumentManifests

/// Chooses renditions: asks the profile's adaptation rule, remembers what downloads took, and leaves failing rungs
/// alone.
struct RenditionChoice: Sendable {
    /// What the rule decided for the next segment.
    enum Decision: Hashable, Sendable {
        case rung(Int)
        /// Fetch nothing before the buffer has drained to this level.
        case wait(untilBuffered: Int64)
    }

    /// dash.js, `AbandonRequestsRule`: the rule is not asked within 500 ms of a request, and then from time to time.
    private static let abandonmentGrace: Duration = .milliseconds(500)
    private static let abandonmentPause: Duration = .milliseconds(250)

    private let profile: PlayerProfile
    /// The preferred language in lower case.
    private let language: String?
    private var rule: any AdaptationRule
    private var throughput = ThroughputHistory()
    /// Until when rungs are left alone after a failure.
    private var excluded: [Int: MonotonicInstant] = [:]
    /// When to ask the rule whether to abandon the running download.
    private(set) var reconsiderAt: MonotonicInstant?
    /// Since when nothing was fetched although the rule did not ask for it.
    private var idleSince: MonotonicInstant?

    init(_ configuration: ProbeConfiguration) {
        profile = configuration.profile
        language = configuration.language?.lowercased()
        rule = profile.rule
    }

    /// What the rule may know.
    func context(
        _ ladder: BitrateLadder,
        _ track: TrackLoading,
        in manifest: ManifestLoading,
        _ live: AdaptationContext.Live?,
        _ view: PlaybackView
    ) -> AdaptationContext {
        var constraints = profile.constraints
        constraints.excluded.formUnion(excluded.keys)
        return AdaptationContext(
            ladder: ladder,
            currentRung: track.rung,
            bufferLevel: .nanoseconds(track.level(at: view.position)),
            buffer: profile.buffer,
            playhead: view.playhead,
            segment: track.nextSegment(in: manifest),
            throughput: throughput,
            initialEstimate: profile.initialEstimate,
            live: live,
            playbackRate: view.model?.rate ?? 1,
            constraints: constraints,
            now: view.instant
        )
    }

    /// The audio rendition that plays beside a variant: the current one, else one in the same language, else one in the
    /// preferred language, else the best. Nil if the variant's main rendition carries the audio.
    func audio(of variant: Variant, after current: Rendition.ID?, in manifest: ManifestLoading) -> Rendition.ID? {
        let choice = audioChoice(of: variant, after: current, in: manifest)
        return choice == variant.main ? nil : choice
    }

    private func audioChoice(
        of variant: Variant,
        after current: Rendition.ID?,
        in manifest: ManifestLoading
    ) -> Rendition.ID? {
        if let current {
            if variant.audio.contains(current) { return current }
            let currentLanguage = manifest.language(of: current)
            if let same = variant.audio.first(where: { manifest.language(of: $0) == currentLanguage }) { return same }
        }
        let preferred = variant.audio.first { id in
            guard let language, let found = manifest.language(of: id)?.lowercased() else { return false }
            return found == language || found.hasPrefix(language + "-")
        }
        return preferred ?? variant.audio.first
    }
}

// MARK: Decisions
extension RenditionChoice {
    /// Decides on the next segment. The profile may choose the first rung itself.
    mutating func decide(in context: AdaptationContext) -> Decision {
        if context.currentRung == nil, let first = profile.firstRung(firstListed: 0, in: context) {
            return .rung(first)
        }
        let decision = rule.decide(in: context)
        // A wait while the playhead stands would never end: the buffer does not drain.
        if let wait = decision.waitUntilBuffered, context.playhead == .playing, context.bufferLevel > wait {
            return .wait(untilBuffered: wait.nanoseconds)
        }
        return .rung(context.ladder.clamped(decision.rung))
    }

    /// Asks the rule whether to abandon a running download.
    ///
    /// - Parameter context: the context whose `currentRung` is the download's.
    /// - Returns: the lower rung to fetch the segment at; nil to continue.
    mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        reconsiderAt = context.now.advanced(by: Self.abandonmentPause)
        guard let rung = rule.abandonment(of: download, in: context).map(context.ladder.clamped), rung < download.rung
        else { return nil }
        reconsiderAt = nil
        rule.observe(.abandoned(download, for: rung), in: context)
        return rung
    }

    mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) { rule.observe(event, in: context) }

    /// A video segment was requested at `instant`; with a choice of rungs its download is reconsidered from time to
    /// time.
    mutating func watchDownload(since instant: MonotonicInstant) {
        reconsiderAt = instant.advanced(by: Self.abandonmentGrace)
    }

    /// Whether the running download has to be reconsidered now; true once for each planned instant.
    mutating func takeReconsideration(at now: MonotonicInstant) -> Bool {
        guard let due = reconsiderAt, due <= now else { return false }
        reconsiderAt = nil
        return true
    }
}

// MARK: Memory
extension RenditionChoice {
    /// Remembers what a download took.
    mutating func learn(from arrivals: ArrivalLog, begun: MonotonicInstant) {
        guard let first = arrivals.first, let last = arrivals.last else { return }
        throughput.append(
            ThroughputSample(
                bytes: Int64(arrivals.count),
                transferTime: first.duration(to: last),
                timeToFirstByte: begun.duration(to: first),
                end: last
            )
        )
    }

    /// Leaves a rung alone, if another rung is left.
    ///
    /// - Parameter time: for how long; nil for the rest of the playback.
    /// - Returns: false if no other rung is left.
    mutating func exclude(_ rung: Int, of ladder: BitrateLadder, for time: Duration?, now: MonotonicInstant) -> Bool {
        guard ladder.indices.contains(where: { $0 != rung && excluded[$0] == nil }) else { return false }
        excluded[rung] = time.map { now.advanced(by: $0) } ?? MonotonicInstant(nanoseconds: .max)
        return true
    }

    mutating func endExclusions(at now: MonotonicInstant) { excluded = excluded.filter { $0.value > now } }

    /// Adopts the rungs of a reloaded manifest.
    mutating func adopt(_ change: LadderChange) {
        let kept = excluded.compactMap { rung, end in change.rungs[rung].map { ($0, end) } }
        excluded = Dictionary(kept, uniquingKeysWith: max)
    }

    /// Notes that the buffer is full and nothing is fetched.
    mutating func beginIdling(at now: MonotonicInstant) { idleSince = idleSince ?? now }

    /// How long nothing was fetched; nil if loading did not idle.
    mutating func takeIdleTime(at now: MonotonicInstant) -> Duration? {
        defer { idleSince = nil }
        return idleSince.map { $0.duration(to: now) }
    }
}
