/// The behaviour of a player: its buffer, its choice of renditions, its retries, its live playback.
///
/// A plain value: use a named profile, change one, or create one.
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
        /// The lowest rung.
        case lowest
        /// The highest rung.
        case highest
    }

    /// When the media of a segment becomes playable.
    public enum SegmentUse: Hashable, Sendable {
        /// As its bytes arrive.
        case progressive
        /// When the whole segment has arrived.
        case complete
    }

    /// A limit of the buffer in bytes, for players that have one.
    public struct ByteBudget: Hashable, Sendable {
        /// The bytes that the buffer may hold, at the present rung's bitrate.
        public var bytes: Int64
        /// The most media that the buffer may hold, whatever the bitrate.
        public var limit: Duration

        /// Creates a budget; bytes are not negative.
        public init(bytes: Int64, limit: Duration) {
            self.bytes = max(0, bytes)
            self.limit = limit
        }
    }

    /// The name, as the command-line option `--profile` takes it.
    public var name: String
    /// The levels of the buffer at which playback starts and resumes, and at which fetching pauses.
    public var buffer: BufferPolicy
    /// Media that is fetched beyond the buffer's maximum, as bytes allow; nil for none.
    public var byteBudget: ByteBudget?
    /// How much media stays in the buffer behind the playhead, so that a seek back needs no request; nil keeps all
    /// media that was played since the last seek outside the buffer.
    public var backBuffer: Duration?
    /// The choice of the first rendition.
    public var start: Start
    /// When the media of a segment becomes playable.
    public var segmentUse: SegmentUse
    /// The limits for the choice of renditions.
    public var constraints: AdaptationConstraints
    /// The behaviour in live streams.
    public var live: LivePolicy
    /// The HTTP statuses at which the player takes another variant without a retry; nil for none.
    public var immediateFallback: ImmediateFallback?
    /// The responses to a failure after the last retry, in order: the first possible response counts.
    public var afterRetries: [FailureResponse]
    private var retries: [ResourceKind: RetryPolicy]
    private var defaultRetry: RetryPolicy
    private var box: RuleBox

    /// Chooses the renditions; each playback works with a copy.
    public var rule: any AdaptationRule {
        get { box.rule }
        set { box = RuleBox(rule: newValue) }
    }

    /// Creates a profile. `retry` applies to every kind of resource that `retries` does not contain.
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

    /// The retry policy of a kind of resource.
    public subscript(retry kind: ResourceKind) -> RetryPolicy {
        get { retries[kind] ?? defaultRetry }
        set { retries[kind] = newValue }
    }

    /// The name.
    public var description: String { name }

    /// The level at which fetching pauses, for a rung with this bitrate (bit/s).
    public func maximumBuffer(bitrate: Int) -> Duration {
        guard let byteBudget else { return buffer.maximum }
        let budget = Duration(clampingSeconds: 8 * Double(byteBudget.bytes) / Double(max(1, bitrate)))
        return min(max(buffer.maximum, budget), max(byteBudget.limit, buffer.maximum))
    }

    /// The assumed throughput before the first measurement, bit/s; nil for none.
    public var initialEstimate: Int? {
        if case .estimate(let bitrate) = start { max(0, bitrate) } else { nil }
    }

    /// The rung of the first segment; nil if the rule decides.
    ///
    /// - Parameters:
    ///   - firstListed: the rung that the manifest lists first.
    ///   - context: the context that the rule would get.
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
