// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// AVMetrics.h of the iOS 26 SDK: every class is NS_SWIFT_SENDABLE and of iOS 18, and none can be created by an app
// (AV_INIT_UNAVAILABLE): the initializers are a test's.

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
open class AVMetricEvent: NSObject, @unchecked Sendable {
    public let date: Date
    public init(at date: Date = Date(timeIntervalSince1970: 1e11)) { self.date = date }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricErrorEvent: AVMetricEvent, @unchecked Sendable {
    public let didRecover: Bool
    public init(recovers: Bool) {
        didRecover = recovers
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricMediaResourceRequestEvent: AVMetricEvent, @unchecked Sendable {
    public let requestStartTime: Date
    public let requestEndTime: Date
    public let responseStartTime: Date
    public let responseEndTime: Date
    public let byteRange: NSRange
    public let wasReadFromCache: Bool
    public let errorEvent: AVMetricErrorEvent?

    public init(
        from start: Date,
        firstByte: TimeInterval,
        end: TimeInterval,
        range: NSRange = NSRange(location: 0, length: 0),
        isCached: Bool = false,
        error: AVMetricErrorEvent? = nil
    ) {
        (requestStartTime, requestEndTime) = (start, start.addingTimeInterval(end))
        (responseStartTime, responseEndTime) = (start.addingTimeInterval(firstByte), start.addingTimeInterval(end))
        (byteRange, wasReadFromCache, errorEvent) = (range, isCached, error)
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricHLSPlaylistRequestEvent: AVMetricEvent, @unchecked Sendable {
    public let mediaResourceRequestEvent: AVMetricMediaResourceRequestEvent?
    public init(_ request: AVMetricMediaResourceRequestEvent?) {
        mediaResourceRequestEvent = request
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricHLSMediaSegmentRequestEvent: AVMetricEvent, @unchecked Sendable {
    public let isMapSegment: Bool
    public let mediaResourceRequestEvent: AVMetricMediaResourceRequestEvent?
    public init(_ request: AVMetricMediaResourceRequestEvent?, isMap: Bool = false) {
        (mediaResourceRequestEvent, isMapSegment) = (request, isMap)
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricContentKeyRequestEvent: AVMetricEvent, @unchecked Sendable {
    public let mediaResourceRequestEvent: AVMetricMediaResourceRequestEvent?
    public init(_ request: AVMetricMediaResourceRequestEvent?) {
        mediaResourceRequestEvent = request
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
open class AVMetricPlayerItemLikelyToKeepUpEvent: AVMetricEvent, @unchecked Sendable {
    public let timeTaken: TimeInterval
    public init(after seconds: TimeInterval) {
        timeTaken = seconds
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricPlayerItemInitialLikelyToKeepUpEvent: AVMetricPlayerItemLikelyToKeepUpEvent,
    @unchecked Sendable
{}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
open class AVMetricPlayerItemRateChangeEvent: AVMetricEvent, @unchecked Sendable {}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricPlayerItemSeekDidCompleteEvent: AVMetricPlayerItemRateChangeEvent, @unchecked Sendable {}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricPlayerItemVariantSwitchEvent: AVMetricEvent, @unchecked Sendable {
    public let toVariant: AVAssetVariant
    public let didSucceed: Bool
    init(_ variant: AVAssetVariant, succeeds: Bool) {
        (toVariant, didSucceed) = (variant, succeeds)
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public protocol AVMetricEventStreamPublisher {}

// Of AVFoundation's overlay for Swift.
@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
extension AVMetricEventStreamPublisher {
    /// All events in the order in which they occur. An item here has one reader.
    public func allMetrics() -> AVMetrics<AVMetricEvent> { AVMetrics((self as? AVPlayerItem)?.metricEvents.stream) }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public struct AVMetrics<MetricEvent: AVMetricEvent>: AsyncSequence, Sendable {
    public typealias Element = MetricEvent
    private let events: AsyncThrowingStream<AVMetricEvent, any Error>?

    init(_ events: AsyncThrowingStream<AVMetricEvent, any Error>?) { self.events = events }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: events?.makeAsyncIterator()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<AVMetricEvent, any Error>.Iterator?

        public mutating func next() async throws -> MetricEvent? { try await base?.next() as? MetricEvent }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> MetricEvent? {
            try await base?.next(isolation: actor) as? MetricEvent
        }
    }
}
