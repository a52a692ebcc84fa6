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
    /// The wait for the bytes that complete a part.
    private static let partDelay: Duration = .milliseconds(10)

    private let profile: PlayerProfile
    /// The preferred language in lower case.
    private let language: String?
    private var rule: any AdaptationRule
    private var throughput: ThroughputHistory
    /// The parts of running downloads that are samples already.
    private var sampled: [StreamRole: SampledPart] = [:]
    /// The measurement of all downloads together.
    private var meter = LinkMeter()
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
        // Parts of downloads are short: the same time takes more of them.
        throughput = ThroughputHistory(capacity: profile.sampling.parts == nil ? ThroughputHistory.capacity : 400)
    }

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

    mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {
        // The downloads were cancelled.
        if event == .seeked { meter = LinkMeter() }
        rule.observe(event, in: context)
    }

    /// Records the request of a video segment at `instant`. With a choice of rungs, plans queries about its download.
    mutating func watchDownload(since instant: MonotonicInstant) {
        let delay = profile.sampling.parts == nil ? .zero : Self.partDelay
        reconsiderAt = instant.advanced(by: rule.abandonmentGrace + delay)
    }

    /// The next query about a running download; where its parts are samples, soon after the next part can be complete.
    private func nextReconsideration(after now: MonotonicInstant) -> MonotonicInstant {
        guard let parts = profile.sampling.parts, let part = sampled[.main] else {
            return now.advanced(by: Self.abandonmentPause)
        }
        return max(now, part.instant.advanced(by: parts.time)).advanced(by: Self.partDelay)
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
    /// How far the samples of a download reach.
    struct SampledPart: Hashable {
        /// The number of the request.
        var number: Int
        var count: Int
        var instant: MonotonicInstant
    }

    /// Whether a download is in progress or how it ended.
    enum DownloadState: Hashable {
        case running, complete
        /// Aborted at an instant.
        case abandoned(MonotonicInstant)
    }

    /// Records the bitrate of a download, if it is relevant.
    ///
    /// - Parameters:
    ///   - number: the number of the request.
    ///   - others: the downloads that run beside it, for profiles that measure all together.
    ///   - isProduced: whether the server was producing the segment while it was transferred.
    mutating func learn(
        from arrivals: ArrivalLog,
        of role: StreamRole,
        number: Int,
        begun: MonotonicInstant,
        _ state: DownloadState = .complete,
        beside others: [LinkMeter.Transfer] = [],
        isProduced: Bool = false
    ) {
        if profile.sampling.aggregatesTransfers {
            guard state == .complete else { return }
            let transfer = LinkMeter.Transfer(number: number, begun: begun, arrivals: arrivals)
            if let sample = meter.sample(endOf: transfer, beside: others) { throughput.append(sample) }
            return
        }
        guard role == .main || profile.sampling.includesAudio else { return }
        guard let parts = profile.sampling.parts else {
            switch state {
            case .running: break
            case .complete: learnWhole(arrivals, begun: begun, until: arrivals.last, isProduced: isProduced)
            case .abandoned(let instant):
                if profile.sampling.includesAbandoned { learnWhole(arrivals, begun: begun, until: instant) }
            }
            return
        }
        let start = SampledPart(number: number, count: 0, instant: begun)
        var part = sampled[role].flatMap { $0.number == number ? $0 : nil } ?? start
        while let end = arrivals.endOfPart(of: parts, behind: part.count, from: part.instant) {
            learn(part, until: end.instant, end.count, firstByte: arrivals.first)
            (part.count, part.instant) = end
        }
        if state == .complete, arrivals.count > part.count, let last = arrivals.last {
            learn(part, until: last, arrivals.count, firstByte: arrivals.first)
        }
        sampled[role] = state == .running ? part : nil
    }

    private mutating func learnWhole(
        _ arrivals: ArrivalLog,
        begun: MonotonicInstant,
        until end: MonotonicInstant?,
        isProduced: Bool = false
    ) {
        guard let first = arrivals.first, let last = end,
            begun.duration(to: last) >= profile.sampling.cacheTime
        else { return }
        let processing = throughput.samples.isEmpty ? profile.sampling.firstProcessing : .zero
        throughput.append(
            ThroughputSample(
                bytes: Int64(arrivals.count),
                transferTime: processing
                    + (isProduced ? arrivals.transferTimeWithoutPauses : first.duration(to: last)),
                timeToFirstByte: begun.duration(to: first),
                end: last
            )
        )
    }

    private mutating func learn(
        _ part: SampledPart,
        until instant: MonotonicInstant,
        _ count: Int,
        firstByte: MonotonicInstant?
    ) {
        let first = part.count == 0 ? firstByte ?? part.instant : part.instant
        guard part.instant.duration(to: instant) >= profile.sampling.cacheTime else { return }
        throughput.append(
            ThroughputSample(
                bytes: Int64(count - part.count),
                transferTime: first.duration(to: instant),
                timeToFirstByte: part.instant.duration(to: first),
                end: instant
            )
        )
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
