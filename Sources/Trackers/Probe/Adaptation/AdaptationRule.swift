/// Chooses the rung of each segment, as the adaptive bitrate logic of a player does.
///
/// A rule is a value: each playback has a separate copy, which may keep state. The engine calls it on one thread at a
/// time. It must not block, and takes time from the context only, so that the same calls give the same decisions.
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
    /// Returns the rung of the next segment. Called before each request of a segment, and again after a wait that the
    /// rule requested.
    mutating func decide(in context: AdaptationContext) -> AdaptationDecision

    /// Decides whether to abort a download in progress. Called ``abandonmentGrace`` after the request, and every 100 ms
    /// from then on.
    ///
    /// - Returns: the other rung to fetch the same segment at, or nil to continue the download, which is the default.
    mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int?

    /// The time from a request to the first question whether to abort its download; 500 ms by default.
    var abandonmentGrace: Duration { get }

    /// Receives an event between decisions, with the context at that moment. The default does nothing.
    mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext)
}

extension AdaptationRule {
    /// 500 ms.
    public var abandonmentGrace: Duration { .milliseconds(500) }
    /// Continues the download.
    public mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? { nil }
    /// Ignores the event.
    public mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {}
}

/// A rule's decision before a segment.
public struct AdaptationDecision: Hashable, Sendable {
    /// The index of the rung in the context's ladder.
    public var rung: Int
    /// The buffer level above which the player fetches nothing and then asks the rule again; nil fetches immediately.
    ///
    /// A player applies this only while its playhead moves, because otherwise the buffer would never drain.
    public var waitUntilBuffered: Duration?

    /// Creates a decision.
    public init(rung: Int, waitUntilBuffered: Duration? = nil) {
        self.rung = rung
        self.waitUntilBuffered = waitUntilBuffered
    }
}

/// An event between decisions.
public enum AdaptationEvent: Hashable, Sendable {
    /// A segment has arrived completely. The context's throughput and buffer level include it.
    case downloaded(SegmentDownload)
    /// A download was aborted; the player fetches the segment at another rung.
    case abandoned(SegmentDownload, for: Int)
    /// Nothing was fetched for this time, for a reason other than the rule's decision: the buffer was full, playback
    /// was paused, or a live segment was not available yet.
    case idled(Duration)
    /// The playhead jumped outside the buffer.
    case seeked
}

/// A download of a segment, in progress or complete.
public struct SegmentDownload: Hashable, Sendable {
    /// The segment's rung.
    public var rung: Int
    /// The duration.
    public var duration: Duration
    /// The received bytes.
    public var receivedBytes: Int64
    /// Those of the received bytes that came with the first byte.
    public var firstBytes: Int64
    /// The size of the whole, bytes; nil if the response does not declare it.
    public var totalBytes: Int64?
    /// The time since the request.
    public var elapsed: Duration
    /// The time from the request to the first byte; nil before the first byte.
    public var timeToFirstByte: Duration?
    /// The time from the request to the latest byte; nil if unknown.
    public var timeToLastByte: Duration?
    /// Whether the segment replaces media in the buffer, so that the buffer is no longer than before.
    public var isReplacement: Bool

    /// Creates a description of a download; negative values are brought to zero.
    public init(
        rung: Int,
        duration: Duration,
        receivedBytes: Int64,
        firstBytes: Int64 = 0,
        totalBytes: Int64?,
        elapsed: Duration,
        timeToFirstByte: Duration?,
        timeToLastByte: Duration? = nil,
        isReplacement: Bool = false
    ) {
        self.rung = rung
        self.duration = max(duration, .zero)
        self.receivedBytes = max(receivedBytes, 0)
        self.firstBytes = min(max(firstBytes, 0), self.receivedBytes)
        self.totalBytes = totalBytes.map { max($0, 0) }
        self.elapsed = max(elapsed, .zero)
        self.timeToFirstByte = timeToFirstByte.map { max($0, .zero) }
        self.timeToLastByte = timeToLastByte.map { max($0, .zero) }
        self.isReplacement = isReplacement
    }

    /// The time since the first byte; zero before it.
    public var transferTime: Duration { timeToFirstByte.map { max(elapsed - $0, .zero) } ?? .zero }
}
