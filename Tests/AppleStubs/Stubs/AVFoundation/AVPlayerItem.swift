// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

// AVPlayerItem.h:37
public let AVPlayerItemFailedToPlayToEndTimeErrorKey = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

/// NS_SWIFT_UI_ACTOR, and Sendable for that reason. What the header calls NS_SWIFT_NONISOLATED is nonisolated here; all
/// else belongs to the main actor, the constants included.
@MainActor
open class AVPlayerItem: ObservableObject, AVMetricEventStreamPublisher, @unchecked Sendable {  // AVPlayerItem.h:79
    public enum Status: Int, Sendable { case unknown, readyToPlay, failed }  // AVPlayerItem.h:44

    // The constants of the header under the names that Swift gives them. Those of `NSNotification.Name`
    // (`AVPlayerItemDidPlayToEndTime`) are deprecated, and not declared here.

    // AVPlayerItem.h:26
    public class var timeJumpedNotification: NSNotification.Name { .init("AVPlayerItemTimeJumpedNotification") }
    public class var didPlayToEndTimeNotification: NSNotification.Name {  // AVPlayerItem.h:27
        .init("AVPlayerItemDidPlayToEndTimeNotification")
    }
    public class var failedToPlayToEndTimeNotification: NSNotification.Name {  // AVPlayerItem.h:28
        .init("AVPlayerItemFailedToPlayToEndTimeNotification")
    }
    public class var playbackStalledNotification: NSNotification.Name {  // AVPlayerItem.h:29
        .init("AVPlayerItemPlaybackStalledNotification")
    }
    public class var newAccessLogEntryNotification: NSNotification.Name {  // AVPlayerItem.h:30
        .init("AVPlayerItemNewAccessLogEntryNotification")
    }
    public class var newErrorLogEntryNotification: NSNotification.Name {  // AVPlayerItem.h:31
        .init("AVPlayerItemNewErrorLogEntryNotification")
    }
    public class var mediaSelectionDidChangeNotification: NSNotification.Name {  // AVPlayerItem.h:33
        .init("AVPlayerItemMediaSelectionDidChangeNotification")
    }

    private struct Shown {
        var status = Status.unknown
        var error: (any Error)?
        var duration = CMTime.indefinite
        var presentationSize = CGSize.zero
        var seekable: [CMTimeRange] = []
        var keepsOffset = false
        var isLikelyToKeepUp = true
        var access: [AVPlayerItemAccessLogEvent.Values] = []
        var errors: [AVPlayerItemErrorLogEvent.Values] = []
        var time = 0.0
        /// Called by reads of the logs.
        var onRead: (@Sendable () -> Void)?
    }

    nonisolated private let shown = Mutex(Shown())
    nonisolated let metricEvents = AsyncThrowingStream.makeStream(of: AVMetricEvent.self)

    // Not Sendable, and without NS_SWIFT_NONISOLATED.
    public var asset: AVAsset { given }  // AVPlayerItem.h:186
    private let given: AVURLAsset
    public private(set) var currentMediaSelection = AVMediaSelection()  // AVPlayerItem.h:632

    nonisolated public var status: Status { shown.withLock { $0.status } }  // AVPlayerItem.h:168
    nonisolated public var error: (any Error)? { shown.withLock { $0.error } }  // AVPlayerItem.h:174
    nonisolated public var duration: CMTime { shown.withLock { $0.duration } }  // AVPlayerItem.h:206
    // AVPlayerItem.h:217
    nonisolated public var presentationSize: CGSize { shown.withLock { $0.presentationSize } }
    nonisolated public var seekableTimeRanges: [NSValue] {  // AVPlayerItem.h:318
        shown.withLock { $0.seekable }.map(SimulatedTimeRange.value)
    }
    nonisolated public var automaticallyPreservesTimeOffsetFromLive: Bool {  // AVPlayerItem.h:278
        get { shown.withLock { $0.keepsOffset } }
        set { shown.withLock { $0.keepsOffset = newValue } }
    }
    // AVPlayerItem.h:503
    nonisolated public var isPlaybackLikelyToKeepUp: Bool { shown.withLock { $0.isLikelyToKeepUp } }

    nonisolated public init(asset: AVURLAsset) { given = asset }  // For tests.
    // AVPlayerItem.h:125
    nonisolated public convenience init(url: URL) { self.init(asset: AVURLAsset(url: url)) }

    nonisolated public func currentTime() -> CMTime {  // AVPlayerItem.h:289
        CMTimeMake(value: Int64(shown.withLock { $0.time } * 1_000_000), timescale: 1_000_000)
    }

    nonisolated public func accessLog() -> AVPlayerItemAccessLog? {  // AVPlayerItem.h:702
        let (entries, onRead) = shown.withLock { ($0.access, $0.onRead) }
        onRead?()
        return entries.isEmpty ? nil : AVPlayerItemAccessLog(entries)
    }

    nonisolated public func errorLog() -> AVPlayerItemErrorLog? {  // AVPlayerItem.h:710
        let (entries, onRead) = shown.withLock { ($0.errors, $0.onRead) }
        onRead?()
        return entries.isEmpty ? nil : AVPlayerItemErrorLog(entries)
    }
}

// For tests.
extension AVPlayerItem {
    public func simulate(failure: any Error) {
        shown.withLock { ($0.error, $0.status) = (failure, .failed) }
        notify(\AVPlayerItem.status)
    }
    public func simulate(duration seconds: Double) {
        shown.withLock { $0.duration = CMTimeMake(value: Int64(seconds * 1000), timescale: 1000) }
        notify(\AVPlayerItem.duration)
    }
    nonisolated public func simulate(presentationSize size: CGSize) {
        shown.withLock { $0.presentationSize = size }
        notify(\AVPlayerItem.presentationSize)
    }
    nonisolated public func simulate(seekable ranges: (Double, Double)...) {
        let ranges = ranges.map { start, end in
            CMTimeRange(
                start: CMTimeMake(value: Int64(start * 1000), timescale: 1000),
                duration: CMTimeMake(value: Int64((end - start) * 1000), timescale: 1000)
            )
        }
        shown.withLock { $0.seekable = ranges }
    }
    nonisolated public func simulate(likelyToKeepUp isLikely: Bool) {
        shown.withLock { $0.isLikelyToKeepUp = isLikely }
        notify(\AVPlayerItem.isPlaybackLikelyToKeepUp)
    }
    public func simulate(selection: AVMediaSelection) {
        currentMediaSelection = selection
        NotificationCenter.default.post(name: Self.mediaSelectionDidChangeNotification, object: self)
    }

    nonisolated public func simulate(_ name: Notification.Name, error: (any Error)? = nil) {
        let information = error.map { [AVPlayerItemFailedToPlayToEndTimeErrorKey: $0 as Any] }
        NotificationCenter.default.post(name: name, object: self, userInfo: information)
    }

    nonisolated public func simulate(jumpTo seconds: Double) {
        shown.withLock { $0.time = seconds }
        simulate(.init("AVPlayerItemTimeJumpedNotification"))
    }

    nonisolated public func simulate(accessLog entries: [AVPlayerItemAccessLogEvent.Values]) {
        shown.withLock { $0.access = entries }
        simulate(.init("AVPlayerItemNewAccessLogEntryNotification"))
    }

    nonisolated public func simulate(errorLog entries: [AVPlayerItemErrorLogEvent.Values]) {
        shown.withLock { $0.errors = entries }
        simulate(.init("AVPlayerItemNewErrorLogEntryNotification"))
    }

    nonisolated public func simulate(onReadOfLogs body: @escaping @Sendable () -> Void) {
        shown.withLock { $0.onRead = body }
    }

    nonisolated public func simulate(switchTo variant: AVAssetVariant, succeeds: Bool = true) {
        simulate(AVMetricPlayerItemVariantSwitchEvent(variant, succeeds: succeeds))
    }

    nonisolated public func simulate(_ event: AVMetricEvent) { metricEvents.continuation.yield(event) }
}

// NS_SWIFT_SENDABLE: the logs and their events.

public final class AVPlayerItemAccessLog: NSObject, Sendable {  // AVPlayerItem.h:817
    public let events: [AVPlayerItemAccessLogEvent]  // AVPlayerItem.h:844
    init(_ entries: [AVPlayerItemAccessLogEvent.Values]) { events = entries.map(AVPlayerItemAccessLogEvent.init) }
}

public final class AVPlayerItemAccessLogEvent: NSObject, Sendable {  // AVPlayerItem.h:896
    public struct Values: Sendable {  // For tests.
        public var indicatedBitrate = -1.0
        public var indicatedAverageBitrate = -1.0
        public var observedBitrate = -1.0
        public var numberOfDroppedVideoFrames = -1
        public init() {}
    }

    private let values: Values
    init(_ values: Values) { self.values = values }
    public var indicatedBitrate: Double { values.indicatedBitrate }  // AVPlayerItem.h:994
    public var indicatedAverageBitrate: Double { values.indicatedAverageBitrate }  // AVPlayerItem.h:1000
    public var observedBitrate: Double { values.observedBitrate }  // AVPlayerItem.h:988
    public var numberOfDroppedVideoFrames: Int { values.numberOfDroppedVideoFrames }  // AVPlayerItem.h:1018
}

public final class AVPlayerItemErrorLog: NSObject, Sendable {  // AVPlayerItem.h:857
    public let events: [AVPlayerItemErrorLogEvent]  // AVPlayerItem.h:884
    init(_ entries: [AVPlayerItemErrorLogEvent.Values]) { events = entries.map(AVPlayerItemErrorLogEvent.init) }
}

public final class AVPlayerItemErrorLogEvent: NSObject, Sendable {  // AVPlayerItem.h:1078
    public struct Values: Sendable {  // For tests.
        public var domain: String
        public var code: Int
        public var comment: String?
        public init(domain: String, code: Int, comment: String? = nil) {
            (self.domain, self.code, self.comment) = (domain, code, comment)
        }
    }

    private let values: Values
    init(_ values: Values) { self.values = values }
    public var errorDomain: String { values.domain }  // AVPlayerItem.h:1119
    public var errorStatusCode: Int { values.code }  // AVPlayerItem.h:1113
    public var errorComment: String? { values.comment }  // AVPlayerItem.h:1125
}
