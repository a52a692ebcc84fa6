/// The behaviour of a player: its buffer, its choice of renditions, its retries, its live playback.
///
/// A plain value: use a named profile, or change one. Most of a player is figures; where players decide in different
/// ways, the profile has a policy: ``rule``, which an app can exchange, and those that pace the tracks and measure the
/// throughput. The file of each player has its types.
///
/// ```swift
/// var profile = PlayerProfile.hlsJS
/// profile.rule = BOLARule()
/// profile.constraints.maximumHeight = 720
/// ```
///
/// The named profiles have the published defaults of the players. Comments in the source mark values that are not
/// published.
public struct PlayerProfile: Hashable, Sendable, CustomStringConvertible {
    /// The choice of the first rendition, before any throughput was measured.
    public enum Start: Hashable, Sendable {
        /// The rule decides, with this estimate of the throughput, bit/s, in place of samples.
        case estimate(Int)
        /// The first rung as the manifest lists them, whatever its bitrate.
        case firstListed
        /// The highest rung that takes at most the first listed rung's bitrate, brought between `minimum` and `maximum`
        /// (bit/s).
        case firstListedBitrate(minimum: Int, maximum: Int)
        /// The lowest rung.
        case lowest
        /// The highest rung.
        case highest
    }

    /// The instant at which the media of a segment becomes playable.
    package enum SegmentUse: Hashable, Sendable {
        /// As its bytes arrive.
        case progressive
        /// The instant at which the whole segment has arrived.
        case complete
    }

    /// How far a player's demuxer reads beyond a frame before it returns the frame, where the media of a segment is
    /// playable as its bytes arrive.
    package struct DemuxerLookahead: Hashable, Sendable {
        /// The bytes of a segment that the demuxer reads at once; the last block ends with the segment.
        package var blockSize: Int
        /// The number of later pictures that have to be complete, in transport streams: neither their packets nor their
        /// pictures say where they end.
        package var pictures: Int

        /// Creates a lookahead; by default, a frame is returned with its last byte. A block has at least one byte, and
        /// the number of pictures is not negative.
        package init(blockSize: Int = 1, pictures: Int = 0) {
            self.blockSize = min(max(blockSize, 1), 1 << 30)
            self.pictures = min(max(pictures, 0), 100)
        }
    }

    /// When a player requests an initialization section that it does not have.
    package enum InitializationLoading: Hashable, Sendable {
        /// Before the segment that needs it, which costs a round trip more.
        case beforeSegment
        /// The same, and again whenever a rendition follows another one, and after a seek outside the buffer: the
        /// player keeps none, and a fresh one comes from the browser's cache.
        case ofEachRendition
        /// Together with that segment, which waits for it.
        case withSegment
    }

    /// The condition under which a player that has filled its buffer fetches the next segment.
    package struct BufferCheck: Hashable, Sendable {
        /// Whether the next segment of the main track has to fit below the maximum.
        package var countsNextSegment: Bool
        /// The interval at which the player looks for room, once it has found none; zero for at once.
        package var interval: Duration
        /// The time after which a track looks again, once it has found itself too far ahead of the other track; zero
        /// for as soon as the other track has caught up.
        package var leadInterval: Duration

        /// Creates a condition; intervals are not negative.
        package init(countsNextSegment: Bool = false, interval: Duration = .zero, leadInterval: Duration = .zero) {
            self.countsNextSegment = countsNextSegment
            self.interval = max(interval, .zero)
            self.leadInterval = max(leadInterval, .zero)
        }
    }

    /// The time from the arrival of the last byte that playback needs to the first picture, or to the next one.
    package struct DecodeDelay: Hashable, Sendable {
        /// At the start of playback.
        package var start: Duration
        /// At the start of playback of segments without an initialization section, which a browser's player transmuxes
        /// (transport streams); nil for ``start``.
        package var transmuxedStart: Duration?
        /// After a stall or a seek.
        package var resume: Duration

        /// Creates delays; they are not negative.
        package init(start: Duration = .zero, transmuxedStart: Duration? = nil, resume: Duration = .zero) {
            self.start = max(start, .zero)
            self.transmuxedStart = transmuxedStart.map { max($0, .zero) }
            self.resume = max(resume, .zero)
        }
    }

    /// The buffer at the highest rung, for players that hold more there.
    package struct TopRungBuffer: Hashable, Sendable {
        /// The level at which fetching pauses.
        package var maximum: Duration
        /// The level for long media.
        package var longMaximum: Duration
        /// The duration from which media is long.
        package var longDuration: Duration

        /// Creates the levels.
        package init(maximum: Duration, longMaximum: Duration, longDuration: Duration) {
            (self.maximum, self.longMaximum, self.longDuration) = (maximum, longMaximum, longDuration)
        }
    }

    /// A limit of the buffer in bytes, for players that have one.
    package struct ByteBudget: Hashable, Sendable {
        /// The bytes that the buffer may hold, at the present rung's bitrate.
        package var bytes: Int64
        /// The most media that the buffer may hold, whatever the bitrate.
        package var limit: Duration

        /// Creates a budget; bytes are not negative.
        package init(bytes: Int64, limit: Duration) {
            self.bytes = max(0, bytes)
            self.limit = limit
        }
    }

    /// The name, as the command-line option `--profile` takes it.
    public var name: String
    /// The levels of the buffer at which playback starts and resumes, and at which fetching pauses.
    public var buffer: BufferPolicy
    /// Media that is fetched beyond the buffer's maximum, as bytes allow; nil for none.
    package var byteBudget: ByteBudget?
    /// The buffer's maximum at the highest rung; nil for the same as at other rungs.
    package var topRungBuffer: TopRungBuffer?
    /// The condition under which fetching continues after a pause.
    package var bufferCheck: BufferCheck
    /// Whether a higher rung replaces buffered media: the number of segments ahead of the playhead from which on media
    /// of lower rungs is fetched again; nil keeps all media.
    package var replacementDistance: Double?
    /// The first segment after a start or a seek is the one that plays this time before the position, in case segments
    /// begin later than the manifest declares; not in low-latency streams.
    package var lookupTolerance: Duration
    /// The media that stays in the buffer behind the playhead, so that a seek back needs no request; nil keeps all
    /// media that was played since the last seek outside the buffer.
    package var backBuffer: Duration?
    /// The choice of the first rendition.
    public var start: Start
    /// The instant at which the media of a segment becomes playable.
    package var segmentUse: SegmentUse
    /// How far the demuxer reads beyond a frame, if media is playable as its bytes arrive.
    package var demuxerLookahead: DemuxerLookahead
    /// The media that the player takes.
    package var acceptance: MediaAcceptance
    /// The content codings in which the player asks for text.
    package var textCodings = TextCodings.all
    /// The use of the start that an HLS stream declares.
    package var declaredStart = DeclaredStart.used()
    /// The time that decoding takes before playback starts or continues.
    package var decodeDelay: DecodeDelay
    /// Whether the playlist of the audio is requested together with that of the video that it plays with; otherwise
    /// once the video's has arrived, which costs a round trip more.
    package var requestsPlaylistsTogether = false
    /// When an initialization section is requested that the player does not have.
    package var initializationLoading: InitializationLoading
    /// Whether a segment of the video is fetched before anything else of the media, and counts for no throughput, where
    /// a multivariant playlist leaves open which closed captions the video carries: the first segment, in live streams
    /// the one in the middle of the window.
    package var inspectsCaptions: Bool
    /// The times for which the player works on what has come before it requests more.
    package var processing: ProcessingTimes
    /// The time from the arrival of the first segment, of video or of audio, until what reads segments has started, and
    /// has read this one. The first sample of the throughput includes what is left of it when the first video segment
    /// arrives, but at least the time of ``processing``; so does the wait until the next request, which need not be
    /// another part of the same segment. Not negative.
    package var firstProcessing: Duration
    /// Whether the bitrate of a rung includes the audio that is fetched apart from its video, where the manifest
    /// declares both (DASH).
    package var ladderIncludesAudio: Bool
    /// The response to pictures that are dropped; nil for none.
    package var droppedFrames: DroppedFramePolicy?
    /// The variants of a manifest that are in the ladder.
    package var ladderSelection: LadderSelection
    /// The limits for the choice of renditions.
    public var constraints: AdaptationConstraints
    /// The behaviour in live streams.
    package var live: LivePolicy
    /// The mode in low-latency streams; nil if the player behaves as in all live streams.
    package var lowLatency: LowLatencyMode?
    /// The responses to failed requests.
    package var failurePlan: FailurePlan
    private var retries: [ResourceKind: RetryPolicy]
    private var defaultRetry: RetryPolicy
    private var policies: Policies

    /// Chooses the renditions; each playback works with a copy.
    public var rule: any AdaptationRule {
        get { policies.rule }
        set { policies.rule = newValue }
    }
    /// Keeps audio that is fetched apart from video in step with it.
    var pacing: any TrackPacing {
        get { policies.pacing }
        set { policies.pacing = newValue }
    }
    /// Takes samples of the throughput from downloads; each playback works with a copy.
    var sampling: any ThroughputSampling {
        get { policies.sampling }
        set { policies.sampling = newValue }
    }

    /// Creates a profile. `retry` applies to every kind of resource that `retries` does not contain.
    init(
        name: String,
        buffer: BufferPolicy,
        byteBudget: ByteBudget? = nil,
        topRungBuffer: TopRungBuffer? = nil,
        bufferCheck: BufferCheck = BufferCheck(),
        replacementDistance: Double? = nil,
        lookupTolerance: Duration = .zero,
        backBuffer: Duration? = nil,
        rule: any AdaptationRule,
        start: Start,
        segmentUse: SegmentUse,
        demuxerLookahead: DemuxerLookahead = DemuxerLookahead(),
        acceptance: MediaAcceptance = .anything,
        decodeDelay: DecodeDelay = DecodeDelay(),
        pacing: any TrackPacing = IndependentTracks(),
        initializationLoading: InitializationLoading = .beforeSegment,
        inspectsCaptions: Bool = false,
        sampling: any ThroughputSampling = DownloadSampling(),
        processing: ProcessingTimes = ProcessingTimes(),
        firstProcessing: Duration = .zero,
        ladderIncludesAudio: Bool = false,
        droppedFrames: DroppedFramePolicy? = nil,
        ladderSelection: LadderSelection = LadderSelection(),
        constraints: AdaptationConstraints = AdaptationConstraints(),
        retry: RetryPolicy,
        retries: [ResourceKind: RetryPolicy] = [:],
        failurePlan: FailurePlan,
        live: LivePolicy
    ) {
        self.name = name
        self.buffer = buffer
        self.byteBudget = byteBudget
        self.topRungBuffer = topRungBuffer
        self.bufferCheck = bufferCheck
        self.replacementDistance = replacementDistance
        self.lookupTolerance = max(lookupTolerance, .zero)
        self.backBuffer = backBuffer
        self.start = start
        self.segmentUse = segmentUse
        self.demuxerLookahead = demuxerLookahead
        self.acceptance = acceptance
        self.decodeDelay = decodeDelay
        self.initializationLoading = initializationLoading
        self.inspectsCaptions = inspectsCaptions
        self.processing = processing
        self.firstProcessing = max(firstProcessing, .zero)
        self.ladderIncludesAudio = ladderIncludesAudio
        self.droppedFrames = droppedFrames
        self.ladderSelection = ladderSelection
        self.constraints = constraints
        self.live = live
        self.failurePlan = failurePlan
        self.retries = retries
        defaultRetry = retry
        policies = Policies(rule: rule, pacing: pacing, sampling: sampling)
    }

    /// The retry policy of a kind of resource. Subtitles without a separate policy have the policy of segments.
    package subscript(retry kind: ResourceKind) -> RetryPolicy {
        get { retries[kind] ?? (kind == .subtitles ? retries[.segment] : nil) ?? defaultRetry }
        set { retries[kind] = newValue }
    }

    /// The name.
    public var description: String { name }

    /// The level at which fetching pauses at a rung.
    ///
    /// - Parameters:
    ///   - bitrate: the rung's bitrate, bit/s.
    ///   - isHighest: whether the rung is the highest that the player may choose.
    ///   - duration: the duration of the media; nil if unknown.
    package func maximumBuffer(bitrate: Int, isHighest: Bool = false, duration: Duration? = nil) -> Duration {
        if let topRungBuffer, isHighest {
            let isLong = duration.map { $0 >= topRungBuffer.longDuration } ?? false
            return max(buffer.maximum, isLong ? topRungBuffer.longMaximum : topRungBuffer.maximum)
        }
        guard let byteBudget else { return buffer.maximum }
        let budget = Duration(clampingSeconds: 8 * Double(byteBudget.bytes) / Double(max(1, bitrate)))
        return min(max(buffer.maximum, budget), max(byteBudget.limit, buffer.maximum))
    }

    /// The assumed throughput before the first measurement, bit/s; nil for none.
    package var initialEstimate: Int? {
        if case .estimate(let bitrate) = start { max(0, bitrate) } else { nil }
    }

    /// The rung of the first segment; nil if the rule decides.
    ///
    /// - Parameters:
    ///   - firstListed: the rung that the manifest lists first.
    ///   - context: the context that the rule would get.
    package func firstRung(firstListed: Int, in context: AdaptationContext) -> Int? {
        switch start {
        case .estimate: nil
        case .firstListed: context.allowedRungs.contains(firstListed) ? firstListed : context.lowestAllowedRung
        case .firstListedBitrate(let minimum, let maximum):
            context.rung(forBitrate: Double(max(minimum, min(context.ladder[firstListed].peakBitrate, maximum))))
        case .lowest: context.lowestAllowedRung
        case .highest: context.highestAllowedRung
        }
    }

    /// Policies are compared by their types and values.
    private struct Policies: Hashable {
        var rule: any AdaptationRule
        var pacing: any TrackPacing
        var sampling: any ThroughputSampling

        private var values: [AnyHashable] { [AnyHashable(rule), AnyHashable(pacing), AnyHashable(sampling)] }

        static func == (left: Policies, right: Policies) -> Bool { left.values == right.values }
        func hash(into hasher: inout Hasher) { hasher.combine(values) }
    }
}

// MARK: Variations
extension PlayerProfile {
    /// The profile with content codings.
    func asking(for codings: TextCodings) -> PlayerProfile {
        var profile = self
        profile.textCodings = codings
        return profile
    }

    /// The profile with another use of the declared start.
    func beginning(_ declaredStart: DeclaredStart) -> PlayerProfile {
        var profile = self
        profile.declaredStart = declaredStart
        return profile
    }

    /// The profile with a mode of low latency.
    func changing(inLowLatency mode: LowLatencyMode) -> PlayerProfile {
        var profile = self
        profile.lowLatency = mode
        return profile
    }

    /// The profile as it is in low-latency streams.
    var inLowLatency: PlayerProfile {
        guard let lowLatency else { return self }
        var profile = self
        (profile.segmentUse, profile.bufferCheck) = (lowLatency.segmentUse, lowLatency.bufferCheck)
        profile.replacementDistance = lowLatency.replacementDistance
        profile.live.catchUp = lowLatency.catchUp ?? live.catchUp
        profile.live.targetLatencyOfDASH = lowLatency.targetLatencyOfDASH ?? live.targetLatencyOfDASH
        return profile
    }
}

// MARK: Names
extension PlayerProfile {
    /// All named profiles.
    public static let named: [PlayerProfile] = [
        .standard, .exoPlayer, .avPlayer, .hlsJS, .hlsJSWithoutWorker, .dashJS, .shaka, .mpv,
    ]

    /// The profile of a name, as `--profile` takes it; nil for an unknown name.
    public init?(named name: String) {
        guard let profile = Self.named.first(where: { $0.name == name }) else { return nil }
        self = profile
    }
}
