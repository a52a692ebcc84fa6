// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

public let AVPlayerItemFailedToPlayToEndTimeErrorKey = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

extension NSNotification.Name {
    public static let AVPlayerItemDidPlayToEndTime = Self("AVPlayerItemDidPlayToEndTimeNotification")
    public static let AVPlayerItemFailedToPlayToEndTime = Self("AVPlayerItemFailedToPlayToEndTimeNotification")
    public static let AVPlayerItemPlaybackStalled = Self("AVPlayerItemPlaybackStalledNotification")
    public static let AVPlayerItemNewAccessLogEntry = Self("AVPlayerItemNewAccessLogEntryNotification")
    public static let AVPlayerItemNewErrorLogEntry = Self("AVPlayerItemNewErrorLogEntryNotification")
}

@MainActor
open class AVPlayerItem: ObservableObject, AVMetricEventStreamPublisher, @unchecked Sendable {
    public enum Status: Int, Sendable { case unknown, readyToPlay, failed }

    public class var timeJumpedNotification: NSNotification.Name { .init("AVPlayerItemTimeJumpedNotification") }
    public class var mediaSelectionDidChangeNotification: NSNotification.Name {
        .init("AVPlayerItemMediaSelectionDidChangeNotification")
    }

    private struct Logs {
        var access: [AVPlayerItemAccessLogEvent.Values] = []
        var errors: [AVPlayerItemErrorLogEvent.Values] = []
        var time = 0.0
        /// Called by reads of the logs.
        var onRead: (@Sendable () -> Void)?
    }

    nonisolated private let logs = Mutex(Logs())
    nonisolated let variantSwitches = AsyncThrowingStream.makeStream(of: AVMetricPlayerItemVariantSwitchEvent.self)

    public let asset: AVAsset
    public internal(set) var status = Status.unknown { didSet { notify(\AVPlayerItem.status) } }
    public internal(set) var error: (any Error)?
    public internal(set) var duration = CMTime.indefinite { didSet { notify(\AVPlayerItem.duration) } }
    public internal(set) var presentationSize = CGSize.zero { didSet { notify(\AVPlayerItem.presentationSize) } }
    public internal(set) var isPlaybackLikelyToKeepUp = true {
        didSet { notify(\AVPlayerItem.isPlaybackLikelyToKeepUp) }
    }
    public internal(set) var currentMediaSelection = AVMediaSelection()

    nonisolated public init(asset: AVAsset) { self.asset = asset }
    nonisolated public convenience init(url: URL) { self.init(asset: AVURLAsset(url: url)) }

    nonisolated public func currentTime() -> CMTime {
        CMTimeMake(value: Int64(logs.withLock { $0.time } * 1_000_000), timescale: 1_000_000)
    }

    nonisolated public func accessLog() -> AVPlayerItemAccessLog? {
        let (entries, onRead) = logs.withLock { ($0.access, $0.onRead) }
        onRead?()
        return entries.isEmpty ? nil : AVPlayerItemAccessLog(entries)
    }

    nonisolated public func errorLog() -> AVPlayerItemErrorLog? {
        let (entries, onRead) = logs.withLock { ($0.errors, $0.onRead) }
        onRead?()
        return entries.isEmpty ? nil : AVPlayerItemErrorLog(entries)
    }
}

/// The values that a test changes.
extension AVPlayerItem {
    public func simulate(failure: any Error) { (error, status) = (failure, .failed) }
    public func simulate(duration seconds: Double) {
        duration = CMTimeMake(value: Int64(seconds * 1000), timescale: 1000)
    }
    public func simulate(presentationSize size: CGSize) { presentationSize = size }
    public func simulate(likelyToKeepUp isLikely: Bool) { isPlaybackLikelyToKeepUp = isLikely }
    public func simulate(selection: AVMediaSelection) {
        currentMediaSelection = selection
        NotificationCenter.default.post(name: Self.mediaSelectionDidChangeNotification, object: self)
    }

    nonisolated public func simulate(_ name: Notification.Name, error: (any Error)? = nil) {
        let information = error.map { [AVPlayerItemFailedToPlayToEndTimeErrorKey: $0 as Any] }
        NotificationCenter.default.post(name: name, object: self, userInfo: information)
    }

    nonisolated public func simulate(jumpTo seconds: Double) {
        logs.withLock { $0.time = seconds }
        simulate(.init("AVPlayerItemTimeJumpedNotification"))
    }

    nonisolated public func simulate(accessLog entries: [AVPlayerItemAccessLogEvent.Values]) {
        logs.withLock { $0.access = entries }
        simulate(.AVPlayerItemNewAccessLogEntry)
    }

    nonisolated public func simulate(errorLog entries: [AVPlayerItemErrorLogEvent.Values]) {
        logs.withLock { $0.errors = entries }
        simulate(.AVPlayerItemNewErrorLogEntry)
    }

    nonisolated public func simulate(onReadOfLogs body: @escaping @Sendable () -> Void) {
        logs.withLock { $0.onRead = body }
    }

    nonisolated public func simulate(switchTo variant: AVAssetVariant, succeeds: Bool = true) {
        variantSwitches.continuation.yield(AVMetricPlayerItemVariantSwitchEvent(variant, succeeds: succeeds))
    }
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
