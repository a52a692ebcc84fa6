// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

open class AVAsset: NSObject, @unchecked Sendable {
    private let groups = Mutex([AVMediaCharacteristic: AVMediaSelectionGroup]())

    public func loadMediaSelectionGroup(
        for mediaCharacteristic: AVMediaCharacteristic
    ) async throws -> AVMediaSelectionGroup? {
        groups.withLock { $0[mediaCharacteristic] }
    }

    /// The asset's values, which a test sets.
    public func simulate(_ group: AVMediaSelectionGroup, for characteristic: AVMediaCharacteristic) {
        groups.withLock { $0[characteristic] = group }
    }
}

public final class AVURLAsset: AVAsset, @unchecked Sendable {
    public let url: URL
    public init(url URL: URL, options: [String: Any]? = nil) { url = URL }
}

public struct AVMediaCharacteristic: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let audible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
    public static let legible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
}

public final class AVMediaSelectionGroup: NSObject, Sendable {}

public final class AVMediaSelectionOption: NSObject, Sendable {
    public let extendedLanguageTag: String?
    public init(tag: String?) { extendedLanguageTag = tag }
}

public final class AVMediaSelection: NSObject, Sendable {
    private let options: [ObjectIdentifier: AVMediaSelectionOption]
    public override init() { options = [:] }
    /// The test's selection.
    public init(_ selected: [(AVMediaSelectionGroup, AVMediaSelectionOption)]) {
        options = Dictionary(selected.map { (ObjectIdentifier($0), $1) }) { first, _ in first }
    }
    public func selectedMediaOption(in mediaSelectionGroup: AVMediaSelectionGroup) -> AVMediaSelectionOption? {
        options[ObjectIdentifier(mediaSelectionGroup)]
    }
}

public final class AVAssetVariant: NSObject, Sendable {
    public struct VideoAttributes: Sendable { public let nominalFrameRate: Double? }

    public let peakBitRate: Double?
    public let averageBitRate: Double?
    public let videoAttributes: VideoAttributes?

    public init(peak: Double?, average: Double?, frameRate: Double?) {
        (peakBitRate, averageBitRate) = (peak, average)
        videoAttributes = VideoAttributes(nominalFrameRate: frameRate)
    }
}

open class AVMetricEvent: NSObject, @unchecked Sendable {}

public final class AVMetricPlayerItemVariantSwitchEvent: AVMetricEvent, @unchecked Sendable {
    public let toVariant: AVAssetVariant
    public let didSucceed: Bool
    init(_ variant: AVAssetVariant, succeeds: Bool) { (toVariant, didSucceed) = (variant, succeeds) }
}

public protocol AVMetricEventStreamPublisher {}

extension AVMetricEventStreamPublisher {
    public func metrics<MetricEvent: AVMetricEvent>(forType metricType: MetricEvent.Type) -> AVMetrics<MetricEvent> {
        AVMetrics((self as? AVPlayerItem)?.variantSwitches.stream)
    }
}

/// Metric events in the order in which they occur.
public struct AVMetrics<MetricEvent: AVMetricEvent>: AsyncSequence {
    public typealias Element = MetricEvent
    private let switches: AsyncThrowingStream<AVMetricPlayerItemVariantSwitchEvent, any Error>?

    init(_ switches: AsyncThrowingStream<AVMetricPlayerItemVariantSwitchEvent, any Error>?) { self.switches = switches }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: switches?.makeAsyncIterator()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<AVMetricPlayerItemVariantSwitchEvent, any Error>.Iterator?

        public mutating func next() async throws -> MetricEvent? { try await base?.next() as? MetricEvent }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> MetricEvent? {
            try await base?.next(isolation: actor) as? MetricEvent
        }
    }
}
