/// Chooses the rung of each segment, as the adaptive bitrate logic of a player does.
///
/// A rule is a value: each playback has a separate copy, which may remember what it needs. It is asked on one thread
/// at a time, must not block, and gets time from the context only, so that the same calls give the same answers.
///
/// ```swift
/// struct Cautious: AdaptationRule {
///     mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
///         let isLow = context.bufferLevel < .seconds(5)
///         return AdaptationDecision(rung: isLow ? context.lowestAllowedRung : context.highestAllowedRung)
///     }
/// }
/// ```
public protocol AdaptationRule: Hashable, Sendable {
    /// The rung of the next segment; called before each segment is requested, also again after a wait that it asked
    /// for.
    mutating func decide(in context: AdaptationContext) -> AdaptationDecision

    /// Whether a download in progress should be given up; called whenever some of it has arrived, and now and then if
    /// nothing does.
    ///
    /// - Returns: the lower rung to fetch the same segment at, or nil to continue the download, which is the default.
    mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int?

    /// Something happened that a rule may want to remember; by default it does not. `context` is of that moment.
    mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext)
}

extension AdaptationRule {
    /// Continues the download.
    public mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? { nil }
    /// Remembers nothing.
    public mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {}
}

/// What a rule answers before a segment.
public struct AdaptationDecision: Hashable, Sendable {
    /// The index of the rung in the context's ladder.
    public var rung: Int
    /// Fetch nothing as long as more than this is buffered, then ask again; nil fetches at once.
    ///
    /// A player applies it only while its playhead moves, because the buffer would never drain otherwise.
    public var waitUntilBuffered: Duration?

    /// Creates a decision.
    public init(rung: Int, waitUntilBuffered: Duration? = nil) {
        self.rung = rung
        self.waitUntilBuffered = waitUntilBuffered
    }
}

/// What happens between decisions.
public enum AdaptationEvent: Hashable, Sendable {
    /// A segment has arrived completely. The context's throughput already holds it, its buffer level too.
    case downloaded(SegmentDownload)
    /// A download was given up, and the segment will be fetched at another rung.
    case abandoned(SegmentDownload, for: Int)
    /// Nothing was fetched for so long, and not because the rule asked for it: the buffer was full, playback was
    /// paused, or a live segment was not there yet.
    case idled(Duration)
    /// The playhead jumped to where nothing is buffered.
    case seeked
}

/// A segment on its way, or after it.
public struct SegmentDownload: Hashable, Sendable {
    /// The rung that it is of.
    public var rung: Int
    /// How long it plays.
    public var duration: Duration
    /// What has arrived, bytes.
    public var receivedBytes: Int64
    /// What there is to receive, bytes; nil where the answer does not say.
    public var totalBytes: Int64?
    /// Since it was requested.
    public var elapsed: Duration
    /// From the request to the first byte; nil before.
    public var timeToFirstByte: Duration?

    /// Creates a description of a download; negative values are brought to zero.
    public init(
        rung: Int,
        duration: Duration,
        receivedBytes: Int64,
        totalBytes: Int64?,
        elapsed: Duration,
        timeToFirstByte: Duration?
    ) {
        self.rung = rung
        self.duration = max(duration, .zero)
        self.receivedBytes = max(receivedBytes, 0)
        self.totalBytes = totalBytes.map { max($0, 0) }
        self.elapsed = max(elapsed, .zero)
        self.timeToFirstByte = timeToFirstByte.map { max($0, .zero) }
    }

    /// Since the first byte; zero before.
    public var transferTime: Duration { timeToFirstByte.map { max(elapsed - $0, .zero) } ?? .zero }
}
