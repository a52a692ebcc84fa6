/// How a player behaves: what it buffers, how it chooses renditions, how it tries again, how it plays live.
///
/// A plain value: take one of the named profiles as it is, change what you like, or make one of your own.
///
/// ```swift
/// var profile = PlayerProfile.hlsJS
/// profile.rule = BufferRule()
/// profile.constraints.maximumHeight = 720
/// ```
///
/// The named profiles carry the published defaults of the players, as far as there are any; what is not published is said
/// to be so in the source.
public struct PlayerProfile: Hashable, Sendable, CustomStringConvertible {
    /// What to fetch first, before anything is known of the throughput.
    public enum Start: Hashable, Sendable {
        /// The rule decides, with this estimate of the throughput, bit/s, in place of samples.
        case estimate(Int)
        /// The first rung as the manifest lists them, whatever its bitrate.
        case firstListed
        /// The lowest rung.
        case lowest
        /// The highest rung.
        case highest
    }

    /// When the media of a segment can be played.
    public enum SegmentUse: Hashable, Sendable {
        /// As it arrives.
        case progressive
        /// When it has arrived completely.
        case complete
    }

    /// How much more than the buffer's maximum is fetched, where a player reckons in bytes.
    public struct ByteBudget: Hashable, Sendable {
        /// Bytes at the present rung's bitrate.
        public var bytes: Int64
        /// At most this much, whatever the bitrate.
        public var limit: Duration

        /// Creates a budget; bytes are not negative.
        public init(bytes: Int64, limit: Duration) {
            self.bytes = max(0, bytes)
            self.limit = limit
        }
    }

    /// Its name, as `--profile` takes it.
    public var name: String
    /// How much is buffered before playback starts and goes on, and at most.
    public var buffer: BufferPolicy
    /// What more is fetched than the buffer's maximum; nil if nothing is.
    public var byteBudget: ByteBudget?
    /// How much is kept behind the playhead, so that jumps back need no fetch; nil keeps everything.
    public var backBuffer: Duration?
    /// What is fetched first.
    public var start: Start
    /// When the media of a segment can be played.
    public var segmentUse: SegmentUse
    /// What limits the choice of renditions.
    public var constraints: AdaptationConstraints
    /// How live streams are played.
    public var live: LivePolicy
    /// Upon which statuses another variant is taken without a retry; nil if upon none.
    public var immediateFallback: ImmediateFallback?
    /// What is done when retries are used up: the first of these that is possible.
    public var afterRetries: [FailureResponse]
    private var retries: [ResourceKind: RetryPolicy]
    private var defaultRetry: RetryPolicy
    private var box: RuleBox

    /// Chooses the renditions; each playback has a copy of its own.
    public var rule: any AdaptationRule {
        get { box.rule }
        set { box = RuleBox(rule: newValue) }
    }

    /// Creates a profile. `retry` is how everything is tried again that `retries` has nothing for.
    public init(
        name: String,
        buffer: BufferPolicy,
        byteBudget: ByteBudget? = nil,
        backBuffer: Duration? = nil,
        rule: any AdaptationRule,
        start: Start,
        segmentUse: SegmentUse,
        constraints: AdaptationConstraints = AdaptationConstraints(),
        retry: RetryPolicy,
        retries: [ResourceKind: RetryPolicy] = [:],
        immediateFallback: ImmediateFallback? = nil,
        afterRetries: [FailureResponse],
        live: LivePolicy
    ) {
        self.name = name
        self.buffer = buffer
        self.byteBudget = byteBudget
        self.backBuffer = backBuffer
        self.start = start
        self.segmentUse = segmentUse
        self.constraints = constraints
        self.live = live
        self.immediateFallback = immediateFallback
        self.afterRetries = afterRetries
        self.retries = retries
        defaultRetry = retry
        box = RuleBox(rule: rule)
    }

    /// How a kind of resource is tried again.
    public subscript(retry kind: ResourceKind) -> RetryPolicy {
        get { retries[kind] ?? defaultRetry }
        set { retries[kind] = newValue }
    }

    /// The name.
    public var description: String { name }

    /// Fetching pauses at this much while a rung of this bitrate (bit/s) is fetched.
    public func maximumBuffer(bitrate: Int) -> Duration {
        guard let byteBudget else { return buffer.maximum }
        let budget = Duration(clampingSeconds: 8 * Double(byteBudget.bytes) / Double(max(1, bitrate)))
        return min(max(buffer.maximum, budget), max(byteBudget.limit, buffer.maximum))
    }

    /// The throughput to go by as long as nothing was measured, bit/s; nil if there is none.
    public var initialEstimate: Int? {
        if case .estimate(let bitrate) = start { max(0, bitrate) } else { nil }
    }

    /// The rung of the first segment; nil if the rule is to be asked.
    ///
    /// - Parameters:
    ///   - firstListed: the rung that the manifest names first.
    ///   - context: as the rule would get it.
    public func firstRung(firstListed: Int, in context: AdaptationContext) -> Int? {
        switch start {
        case .estimate: nil
        case .firstListed: context.allowedRungs.contains(firstListed) ? firstListed : context.lowestAllowedRung
        case .lowest: context.lowestAllowedRung
        case .highest: context.highestAllowedRung
        }
    }

    /// A rule is compared by its type and value.
    private struct RuleBox: Hashable {
        var rule: any AdaptationRule

        static func == (left: RuleBox, right: RuleBox) -> Bool { AnyHashable(left.rule) == AnyHashable(right.rule) }
        func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(rule)) }
    }
}
