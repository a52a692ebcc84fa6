// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// Every class of AVMetrics.h is NS_SWIFT_SENDABLE and of iOS 18, and none can be created by an app
// (AV_INIT_UNAVAILABLE): the initializers are for tests.

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
open class AVMetricEvent: NSObject, @unchecked Sendable {  // AVMetrics.h:78
    public let date: Date  // AVMetrics.h:82
    // For tests.
    public init(at date: Date = Date(timeIntervalSince1970: 1e11)) { self.date = date }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricErrorEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:99
    public let didRecover: Bool  // AVMetrics.h:103
    public init(recovers: Bool) {  // For tests.
        didRecover = recovers
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricMediaResourceRequestEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:116
    public let requestStartTime: Date  // AVMetrics.h:126
    public let requestEndTime: Date  // AVMetrics.h:129
    public let responseStartTime: Date  // AVMetrics.h:132
    public let responseEndTime: Date  // AVMetrics.h:135
    public let byteRange: NSRange  // AVMetrics.h:138
    public let wasReadFromCache: Bool  // AVMetrics.h:141
    public let errorEvent: AVMetricErrorEvent?  // AVMetrics.h:144

    // For tests.
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
public final class AVMetricHLSPlaylistRequestEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:155
    public let mediaResourceRequestEvent: AVMetricMediaResourceRequestEvent?  // AVMetrics.h:168
    // For tests.
    public init(_ request: AVMetricMediaResourceRequestEvent?) {
        mediaResourceRequestEvent = request
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricHLSMediaSegmentRequestEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:176
    public let isMapSegment: Bool  // AVMetrics.h:183
    public let mediaResourceRequestEvent: AVMetricMediaResourceRequestEvent?  // AVMetrics.h:195
    // For tests.
    public init(_ request: AVMetricMediaResourceRequestEvent?, isMap: Bool = false) {
        (mediaResourceRequestEvent, isMapSegment) = (request, isMap)
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricContentKeyRequestEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:203
    public let mediaResourceRequestEvent: AVMetricMediaResourceRequestEvent?  // AVMetrics.h:216
    // For tests.
    public init(_ request: AVMetricMediaResourceRequestEvent?) {
        mediaResourceRequestEvent = request
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
open class AVMetricPlayerItemLikelyToKeepUpEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:226
    public let timeTaken: TimeInterval  // AVMetrics.h:233
    public init(after seconds: TimeInterval) {  // For tests.
        timeTaken = seconds
        super.init()
    }
}

// AVMetrics.h:247
@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricPlayerItemInitialLikelyToKeepUpEvent: AVMetricPlayerItemLikelyToKeepUpEvent,
    @unchecked Sendable
{}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
open class AVMetricPlayerItemRateChangeEvent: AVMetricEvent, @unchecked Sendable {}  // AVMetrics.h:268

// AVMetrics.h:307
@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricPlayerItemSeekDidCompleteEvent: AVMetricPlayerItemRateChangeEvent, @unchecked Sendable {}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public final class AVMetricPlayerItemVariantSwitchEvent: AVMetricEvent, @unchecked Sendable {  // AVMetrics.h:322
    public let toVariant: AVAssetVariant  // AVMetrics.h:329
    public let didSucceed: Bool  // AVMetrics.h:337
    init(_ variant: AVAssetVariant, succeeds: Bool) {
        (toVariant, didSucceed) = (variant, succeeds)
        super.init()
    }
}

@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public protocol AVMetricEventStreamPublisher {}  // AVMetrics.h:22

// Of AVFoundation's overlay for Swift: AVFoundation.swiftinterface
@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
extension AVMetricEventStreamPublisher {
    // AVFoundation.swiftinterface. Here an item has one reader.
    public func allMetrics() -> AVMetrics<AVMetricEvent> { AVMetrics((self as? AVPlayerItem)?.metricEvents.stream) }
}

// AVFoundation.swiftinterface. The iterator has `next()` alone: `next(isolation:)` is the one of the standard library.
@available(iOS 18, macOS 15, tvOS 18, visionOS 2, watchOS 11, *)
public struct AVMetrics<MetricEvent: AVMetricEvent>: AsyncSequence, @unchecked Sendable {
    public typealias Element = MetricEvent  // AVFoundation.swiftinterface
    private let events: AsyncThrowingStream<AVMetricEvent, any Error>?

    init(_ events: AsyncThrowingStream<AVMetricEvent, any Error>?) { self.events = events }

    // AVFoundation.swiftinterface
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: events?.makeAsyncIterator()) }

    public struct AsyncIterator: AsyncIteratorProtocol {  // AVFoundation.swiftinterface
        var base: AsyncThrowingStream<AVMetricEvent, any Error>.Iterator?

        // AVFoundation.swiftinterface
        public mutating func next() async throws -> MetricEvent? { try await base?.next() as? MetricEvent }
    }
}
