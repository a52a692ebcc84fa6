// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

/// Without NS_SWIFT_SENDABLE.
open class AVAsset: NSObject {  // AVAsset.h:64
    private let groups = Mutex([AVMediaCharacteristic: Group]())

    /// The group is not Sendable, and none of its values change.
    private struct Group: @unchecked Sendable { let group: AVMediaSelectionGroup }

    // AVAsset.h:415. Its asynchronous form is not declared: before Swift 6.2 it cannot be called on an asset of the
    // main actor. The handler is called on any thread.
    public func loadMediaSelectionGroup(
        for mediaCharacteristic: AVMediaCharacteristic,
        completionHandler: @escaping @Sendable (AVMediaSelectionGroup?, (any Error)?) -> Void
    ) {
        let loaded = groups.withLock { $0[mediaCharacteristic] }
        DispatchQueue.global().async { completionHandler(loaded?.group, nil) }
    }

    // For tests: the asset's values.
    public func simulate(_ group: AVMediaSelectionGroup, for characteristic: AVMediaCharacteristic) {
        let group = Group(group: group)
        groups.withLock { $0[characteristic] = group }
    }
}

/// NS_SWIFT_SENDABLE
public final class AVURLAsset: AVAsset, @unchecked Sendable {  // AVAsset.h:643
    public let url: URL  // AVAsset.h:692
    // AVAsset.h:689
    public init(url URL: URL, options: [String: Any]? = nil) { url = URL }
}

public struct AVMediaCharacteristic: RawRepresentable, Hashable, Sendable {  // AVMediaFormat.h:73
    public let rawValue: String  // AVMediaFormat.h:73
    public init(rawValue: String) { self.rawValue = rawValue }  // AVMediaFormat.h:73
    // AVMediaFormat.h:85
    public static let audible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
    // AVMediaFormat.h:91
    public static let legible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
}

// Without NS_SWIFT_SENDABLE: the three classes of media selection. All of their properties are read-only; the
// selection has a subclass that can be changed, AVMutableMediaSelection.

public final class AVMediaSelectionGroup: NSObject {}  // AVMediaSelectionGroup.h:25

public final class AVMediaSelectionOption: NSObject {  // AVMediaSelectionGroup.h:110
    public let extendedLanguageTag: String?  // AVMediaSelectionGroup.h:139
    public init(tag: String?) { extendedLanguageTag = tag }  // For tests.
}

public class AVMediaSelection: NSObject {  // AVMediaSelection.h:22
    private let options: [ObjectIdentifier: AVMediaSelectionOption]
    override init() { options = [:] }
    // For tests.
    public init(_ selected: [(AVMediaSelectionGroup, AVMediaSelectionOption)]) {
        options = Dictionary(selected.map { (ObjectIdentifier($0), $1) }) { first, _ in first }
    }
    // AVMediaSelection.h:43
    public func selectedMediaOption(in mediaSelectionGroup: AVMediaSelectionGroup) -> AVMediaSelectionOption? {
        options[ObjectIdentifier(mediaSelectionGroup)]
    }
}

/// NS_SWIFT_SENDABLE
public final class AVAssetVariant: NSObject, Sendable {  // AVAssetVariant.h:29
    /// Without NS_SWIFT_SENDABLE, although the comment of the header asks subclasses to be.
    public final class VideoAttributes: NSObject {  // AVAssetVariant.h:54; AVFoundation.apinotes has the name.
        public let nominalFrameRate: Double?  // AVAssetVariant.h:68; optional in AVFoundation.swiftinterface.
        init(_ frameRate: Double?) { nominalFrameRate = frameRate }
    }

    private let frameRate: Double?
    public let peakBitRate: Double?  // AVAssetVariant.h:34; optional in AVFoundation.swiftinterface.
    public let averageBitRate: Double?  // AVAssetVariant.h:37; optional in AVFoundation.swiftinterface.
    public var videoAttributes: VideoAttributes? { VideoAttributes(frameRate) }  // AVAssetVariant.h:40

    // For tests.
    public init(peak: Double?, average: Double?, frameRate: Double?) {
        (peakBitRate, averageBitRate, self.frameRate) = (peak, average, frameRate)
    }
}
