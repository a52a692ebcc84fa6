internal import Instrument
internal import InstrumentManifests

/// Chooses renditions: asks the profile's adaptation rule, records the downloads, and excludes failing rungs.
struct RenditionChoice: Sendable {
    /// The rule's decision about the next segment.
    enum Decision: Hashable, Sendable {
        case rung(Int)
        /// Fetch nothing before the buffer has drained to this level.
        case wait(untilBuffered: Int64)
    }

    /// The interval of queries whether to abandon a download: that of hls.js (src/controller/abr-controller.ts,
    /// `onFragLoading`).
    private static let abandonmentPause: Duration = .milliseconds(100)

    private let profile: PlayerProfile
    /// The preferred language in lower case.
    private let language: String?
    private var rule: any AdaptationRule
    private var sampling: any ThroughputSampling
    private var throughput: ThroughputHistory
    /// The instants until which rungs are excluded after a failure.
    private var excluded: [Int: MonotonicInstant] = [:]
    /// The instants until which audio renditions are excluded after a failure.
    private var excludedAudio: [Rendition.ID: MonotonicInstant] = [:]
    /// The instant of the next query whether to abandon the running download.
    private(set) var reconsiderAt: MonotonicInstant?
    /// The instant since which loading is idle without a request of the rule.
    private var idleSince: MonotonicInstant?

    init(_ configuration: ProbeConfiguration) {
        profile = configuration.profile
        language = configuration.language?.lowercased()
        rule = profile.rule
        sampling = profile.sampling
        throughput = ThroughputHistory(capacity: sampling.capacity)
    }

    /// The instant of the last decision of a rule that keeps an interval between two; nil for other rules, and before
    /// the first one.
    var lastDecision: MonotonicInstant? { (rule as? ThroughputRule)?.lastDecision }

    /// The bitrate of downloads, bit/s; nil before the first one.
    var measuredBitrate: Double? { ThroughputEstimator.dashJS.bitrate(of: throughput) }

    /// The rule's input.
    func context(
        _ ladder: BitrateLadder,
        _ track: TrackLoading,
        in manifest: ManifestLoading,
        _ live: AdaptationContext.Live?,
        _ view: PlaybackView
    ) -> AdaptationContext {
        var constraints = profile.constraints
        constraints.excluded.formUnion(excluded.keys)
        var context = AdaptationContext(
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
        context.rungsWithoutPlaylist = Set(ladder.indices.filter(manifest.needsPlaylist))
        return context
    }

    /// The highest rung that the profile allows now.
    func highestRung(of ladder: BitrateLadder) -> Int? {
        var constraints = profile.constraints
        constraints.excluded.formUnion(excluded.keys)
        return constraints.allowedRungs(of: ladder, isStarting: false).last
    }

    /// The audio rendition for a variant: the current one, else one in the same language, else one in the preferred
    /// language, else the best. Nil if the variant's main rendition contains the audio.
    func audio(of variant: Variant, after current: Rendition.ID?, in manifest: ManifestLoading) -> Rendition.ID? {
        let choice = audioChoice(of: variant, after: current, in: manifest)
        return choice == variant.main ? nil : choice
    }

    private func audioChoice(
        of variant: Variant,
        after current: Rendition.ID?,
        in manifest: ManifestLoading
    ) -> Rendition.ID? {
        let usable = variant.audio.filter { excludedAudio[$0] == nil }
        let offered = usable.isEmpty ? variant.audio : usable
        if let current {
            if offered.contains(current) { return current }
            let currentLanguage = manifest.language(of: current)
            if let same = offered.first(where: { manifest.language(of: $0) == currentLanguage }) { return same }
        }
        let preferred = offered.first { id in
            guard let language, let found = manifest.language(of: id)?.lowercased() else { return false }
            return found == language || found.hasPrefix(language + "-")
        }
        return preferred ?? offered.first
    }
}

// MARK: Decisions
extension RenditionChoice {
    /// Decides on the next segment. The profile may choose the first rung itself.
    ///
    /// - Parameter firstListed: the rung that the manifest lists first.
    mutating func decide(in context: AdaptationContext, firstListed: Int) -> Decision {
        if context.currentRung == nil, let first = profile.firstRung(firstListed: firstListed, in: context) {
            return .rung(first)
        }
        let decision = rule.decide(in: context)
        // A wait during a stall would never end, because the buffer does not drain.
        if let wait = decision.waitUntilBuffered, context.playhead == .playing, context.bufferLevel > wait {
            return .wait(untilBuffered: wait.nanoseconds)
        }
        return .rung(context.ladder.clamped(decision.rung))
    }

    /// Asks the rule whether to abandon a running download.
    ///
    /// - Parameter context: the context whose `currentRung` is the download's.
    /// - Returns: the other rung to fetch the segment at; nil to continue.
    mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        reconsiderAt = nextReconsideration(after: context.now)
        guard let rung = rule.abandonment(of: download, in: context).map(context.ladder.clamped), rung != download.rung
        else { return nil }
        reconsiderAt = nil
        rule.observe(.abandoned(download, for: rung), in: context)
        return rung
    }

    /// Asks the rule whether to drop a segment that is complete.
    ///
    /// - Parameter context: the context whose `currentRung` is the download's.
    /// - Returns: the other rung to fetch the segment at; nil to use it.
    mutating func replacement(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        defer { reconsiderAt = nil }
        return abandonment(of: download, in: context)
    }

    mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {
        if event == .seeked { sampling.forgetDownloads() }
        rule.observe(event, in: context)
    }

    /// Records the request of a video segment at `instant`. With a choice of rungs, plans queries about its download.
    mutating func watchDownload(since instant: MonotonicInstant) {
        reconsiderAt = instant.advanced(by: rule.abandonmentGrace + sampling.sampleDelay)
    }

    /// The next query about a running download; where its parts are samples, soon after the next part can be complete.
    private func nextReconsideration(after now: MonotonicInstant) -> MonotonicInstant {
        guard let next = sampling.nextSample else { return now.advanced(by: Self.abandonmentPause) }
        return max(now, next).advanced(by: sampling.sampleDelay)
    }

    /// Whether a query about the running download is due; true once for each planned instant.
    mutating func takeReconsideration(at now: MonotonicInstant) -> Bool {
        guard let due = reconsiderAt, due <= now else { return false }
        reconsiderAt = nil
        return true
    }
}

// MARK: Memory
extension RenditionChoice {
    /// Records the bitrate of a download, if it is relevant.
    ///
    /// - Parameters:
    ///   - number: the number of the request.
    ///   - others: the downloads that run beside it, for profiles that measure all together.
    ///   - isProduced: whether the server was producing the segment while it was transferred.
    ///   - processing: the time that the player reads the segment, as far as it belongs to the sample.
    mutating func learn(
        from arrivals: ArrivalLog,
        of role: StreamRole,
        number: Int,
        begun: MonotonicInstant,
        _ state: SampledDownload.State = .complete,
        beside others: [LinkMeter.Transfer] = [],
        isProduced: Bool = false,
        processing: Duration = .zero
    ) {
        let download = SampledDownload(
            role: role,
            transfer: LinkMeter.Transfer(number: number, begun: begun, arrivals: arrivals),
            state: state,
            others: others,
            isProduced: isProduced,
            processing: processing
        )
        for sample in sampling.samples(of: download) { throughput.append(sample) }
    }

    /// Excludes a rung, if another rung is left.
    ///
    /// - Parameter time: the duration of the exclusion; nil for the rest of the playback.
    /// - Returns: false if no other rung is left, or if the rung is excluded already.
    mutating func exclude(_ rung: Int, of ladder: BitrateLadder, for time: Duration?, now: MonotonicInstant) -> Bool {
        guard excluded[rung] == nil, ladder.indices.contains(where: { $0 != rung && excluded[$0] == nil }) else {
            return false
        }
        excluded[rung] = time.map { now.advanced(by: $0) } ?? MonotonicInstant(nanoseconds: .max)
        return true
    }

    /// Excludes an audio rendition, if the variant has another one in the same language.
    ///
    /// - Returns: false if no other rendition is left.
    mutating func exclude(
        audio id: Rendition.ID,
        of variant: Variant,
        in manifest: ManifestLoading,
        until end: MonotonicInstant
    ) -> Bool {
        let language = manifest.language(of: id)
        let others = variant.audio.filter { $0 != id && excludedAudio[$0] == nil }
        guard others.contains(where: { manifest.language(of: $0) == language }) else { return false }
        excludedAudio[id] = end
        return true
    }

    /// The next lower rung that the profile allows and that is not excluded, and below the lowest one the highest.
    func nextLower(than rung: Int, among rungs: [Int], of ladder: BitrateLadder) -> Int? {
        let allowed = Set(profile.constraints.allowedRungs(of: ladder, isStarting: false)).intersection(rungs)
        let order = rungs.filter { $0 < rung }.reversed() + rungs.filter { $0 > rung }.reversed()
        return order.first { allowed.contains($0) && excluded[$0] == nil }
    }

    /// Whether a rung is excluded after a failure.
    func excludes(_ rung: Int) -> Bool { excluded[rung] != nil }

    mutating func endExclusions(at now: MonotonicInstant) {
        excluded = excluded.filter { $0.value > now }
        if !excludedAudio.isEmpty { excludedAudio = excludedAudio.filter { $0.value > now } }
    }

    /// Adopts the rungs of a reloaded manifest.
    mutating func adopt(_ change: LadderChange) {
        let kept = excluded.compactMap { rung, end in change.rungs[rung].map { ($0, end) } }
        excluded = Dictionary(kept, uniquingKeysWith: max)
    }

    /// Records that the buffer is full and loading is idle.
    mutating func beginIdling(at now: MonotonicInstant) { idleSince = idleSince ?? now }

    /// The duration of the idle time; nil if loading was not idle.
    mutating func takeIdleTime(at now: MonotonicInstant) -> Duration? {
        defer { idleSince = nil }
        return idleSince.map { $0.duration(to: now) }
    }
}
