// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

/// AVAsset.h of the iOS 26 SDK: without NS_SWIFT_SENDABLE.
open class AVAsset: NSObject {
    private let groups = Mutex([AVMediaCharacteristic: Group]())

    /// The group is not Sendable, and none of its values change.
    private struct Group: @unchecked Sendable { let group: AVMediaSelectionGroup }

    // -loadMediaSelectionGroupForMediaCharacteristic:completionHandler:. Its asynchronous form is not declared: before
    // Swift 6.2 it cannot be called on an asset of the main actor. The handler is called on any thread.
    public func loadMediaSelectionGroup(
        for mediaCharacteristic: AVMediaCharacteristic,
        completionHandler: @escaping @Sendable (AVMediaSelectionGroup?, (any Error)?) -> Void
    ) {
        let loaded = groups.withLock { $0[mediaCharacteristic] }
        DispatchQueue.global().async { completionHandler(loaded?.group, nil) }
    }

    /// The asset's values, which a test sets.
    public func simulate(_ group: AVMediaSelectionGroup, for characteristic: AVMediaCharacteristic) {
        let group = Group(group: group)
        groups.withLock { $0[characteristic] = group }
    }
}

/// AVAsset.h: NS_SWIFT_SENDABLE.
public final class AVURLAsset: AVAsset, @unchecked Sendable {
    public let url: URL
    public init(url URL: URL, options: [String: Any]? = nil) { url = URL }
}

/// AVMediaFormat.h
public struct AVMediaCharacteristic: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let audible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
    public static let legible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
}

// AVMediaSelectionGroup.h, AVMediaSelection.h: whether the classes are NS_SWIFT_SENDABLE is not verified; here they
// are not.

public final class AVMediaSelectionGroup: NSObject {}

public final class AVMediaSelectionOption: NSObject {
    public let extendedLanguageTag: String?
    public init(tag: String?) { extendedLanguageTag = tag }
}

public final class AVMediaSelection: NSObject {
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

/// AVAssetVariant.h: Sendable as a value of events that are.
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
