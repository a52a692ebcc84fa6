// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

// AVPlayerItem.h of the iOS 26 SDK, if a comment names no other header. What it calls NS_SWIFT_NONISOLATED is
// nonisolated here, everything else belongs to the main actor, as the class does (NS_SWIFT_UI_ACTOR).

// AVPlayerItemFailedToPlayToEndTimeErrorKey
public let AVPlayerItemFailedToPlayToEndTimeErrorKey = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

/// The class of the header is NS_SWIFT_UI_ACTOR, and Sendable for that reason.
@MainActor
open class AVPlayerItem: ObservableObject, AVMetricEventStreamPublisher, @unchecked Sendable {
    public enum Status: Int, Sendable { case unknown, readyToPlay, failed }

    // The constants of the header under the names that Swift gives them. Those of `NSNotification.Name`
    // (`AVPlayerItemDidPlayToEndTime`) are deprecated, and not declared here.
    public class var timeJumpedNotification: NSNotification.Name { .init("AVPlayerItemTimeJumpedNotification") }
    public class var didPlayToEndTimeNotification: NSNotification.Name {
        .init("AVPlayerItemDidPlayToEndTimeNotification")
    }
    public class var failedToPlayToEndTimeNotification: NSNotification.Name {
        .init("AVPlayerItemFailedToPlayToEndTimeNotification")
    }
    public class var playbackStalledNotification: NSNotification.Name {
        .init("AVPlayerItemPlaybackStalledNotification")
    }
    public class var newAccessLogEntryNotification: NSNotification.Name {
        .init("AVPlayerItemNewAccessLogEntryNotification")
    }
    public class var newErrorLogEntryNotification: NSNotification.Name {
        .init("AVPlayerItemNewErrorLogEntryNotification")
    }
    public class var mediaSelectionDidChangeNotification: NSNotification.Name {
        .init("AVPlayerItemMediaSelectionDidChangeNotification")
    }

    private struct Shown {
        var status = Status.unknown
        var error: (any Error)?
        var duration = CMTime.indefinite
        var presentationSize = CGSize.zero
        var seekable: [CMTimeRange] = []
        var keepsOffset = false
        // The selection is not Sendable; it is made once by a test, and read.
        nonisolated(unsafe) var selection = AVMediaSelection()
        var access: [AVPlayerItemAccessLogEvent.Values] = []
        var errors: [AVPlayerItemErrorLogEvent.Values] = []
        var time = 0.0
        /// Called by reads of the logs.
        var onRead: (@Sendable () -> Void)?
    }

    nonisolated private let shown = Mutex(Shown())
    nonisolated let metricEvents = AsyncThrowingStream.makeStream(of: AVMetricEvent.self)

    // @property asset: without NS_SWIFT_NONISOLATED, because an asset is not Sendable.
    public var asset: AVAsset { given }
    nonisolated(unsafe) private let given: AVAsset
    // @property status, error, duration, presentationSize, seekableTimeRanges,
    // automaticallyPreservesTimeOffsetFromLive, currentMediaSelection: NS_SWIFT_NONISOLATED.
    nonisolated public var status: Status { shown.withLock { $0.status } }
    nonisolated public var error: (any Error)? { shown.withLock { $0.error } }
    nonisolated public var duration: CMTime { shown.withLock { $0.duration } }
    nonisolated public var presentationSize: CGSize { shown.withLock { $0.presentationSize } }
    nonisolated public var seekableTimeRanges: [NSValue] {
        shown.withLock { $0.seekable }.map(SimulatedTimeRange.value)
    }
    nonisolated public var automaticallyPreservesTimeOffsetFromLive: Bool {
        get { shown.withLock { $0.keepsOffset } }
        set { shown.withLock { $0.keepsOffset = newValue } }
    }
    nonisolated public var currentMediaSelection: AVMediaSelection { shown.withLock { $0.selection } }
    // @property playbackLikelyToKeepUp: isolation not verified, the stricter one.
    public internal(set) var isPlaybackLikelyToKeepUp = true {
        didSet { notify(\AVPlayerItem.isPlaybackLikelyToKeepUp) }
    }

    // -initWithAsset: is of the main actor; Swift has an overload for assets that are Sendable.
    public init(asset: AVAsset) { given = asset }
    nonisolated public init(asset: AVURLAsset) { given = asset }
    // -initWithURL: NS_SWIFT_NONISOLATED
    nonisolated public convenience init(url: URL) { self.init(asset: AVURLAsset(url: url)) }

    // -currentTime NS_SWIFT_NONISOLATED
    nonisolated public func currentTime() -> CMTime {
        CMTimeMake(value: Int64(shown.withLock { $0.time } * 1_000_000), timescale: 1_000_000)
    }

    // -accessLog, -errorLog: isolation not verified; our monitor reads them on another queue, because they block.

    nonisolated public func accessLog() -> AVPlayerItemAccessLog? {
        let (entries, onRead) = shown.withLock { ($0.access, $0.onRead) }
        onRead?()
        return entries.isEmpty ? nil : AVPlayerItemAccessLog(entries)
    }

    nonisolated public func errorLog() -> AVPlayerItemErrorLog? {
        let (entries, onRead) = shown.withLock { ($0.errors, $0.onRead) }
        onRead?()
        return entries.isEmpty ? nil : AVPlayerItemErrorLog(entries)
    }
}

/// The values that a test changes.
extension AVPlayerItem {
    public func simulate(failure: any Error) {
        shown.withLock { ($0.error, $0.status) = (failure, .failed) }
        notify(\AVPlayerItem.status)
    }
    public func simulate(duration seconds: Double) {
        shown.withLock { $0.duration = CMTimeMake(value: Int64(seconds * 1000), timescale: 1000) }
        notify(\AVPlayerItem.duration)
    }
    public func simulate(presentationSize size: CGSize) {
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
    public func simulate(likelyToKeepUp isLikely: Bool) { isPlaybackLikelyToKeepUp = isLikely }
    public func simulate(selection: AVMediaSelection) {
        // Made by this test, which touches it no more.
        nonisolated(unsafe) let selection = selection
        shown.withLock { $0.selection = selection }
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

public final class AVPlayerItemAccessLog: NSObject {
    public let events: [AVPlayerItemAccessLogEvent]
    init(_ entries: [AVPlayerItemAccessLogEvent.Values]) { events = entries.map(AVPlayerItemAccessLogEvent.init) }
}

public final class AVPlayerItemAccessLogEvent: NSObject {
    public struct Values: Sendable {
        public var indicatedBitrate = -1.0
        public var indicatedAverageBitrate = -1.0
        public var observedBitrate = -1.0
        public var numberOfDroppedVideoFrames = -1
        public init() {}
    }

    private let values: Values
    init(_ values: Values) { self.values = values }
    public var indicatedBitrate: Double { values.indicatedBitrate }
    public var indicatedAverageBitrate: Double { values.indicatedAverageBitrate }
    public var observedBitrate: Double { values.observedBitrate }
    public var numberOfDroppedVideoFrames: Int { values.numberOfDroppedVideoFrames }
}

public final class AVPlayerItemErrorLog: NSObject {
    public let events: [AVPlayerItemErrorLogEvent]
    init(_ entries: [AVPlayerItemErrorLogEvent.Values]) { events = entries.map(AVPlayerItemErrorLogEvent.init) }
}

public final class AVPlayerItemErrorLogEvent: NSObject {
    public struct Values: Sendable {
        public var domain: String
        public var code: Int
        public var comment: String?
        public init(domain: String, code: Int, comment: String? = nil) {
            (self.domain, self.code, self.comment) = (domain, code, comment)
        }
    }

    private let values: Values
    init(_ values: Values) { self.values = values }
    public var errorDomain: String { values.domain }
    public var errorStatusCode: Int { values.code }
    public var errorComment: String? { values.comment }
}
