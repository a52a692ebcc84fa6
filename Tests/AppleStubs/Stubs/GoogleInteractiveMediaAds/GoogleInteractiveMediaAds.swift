// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// IMAAd.h, IMAAdError.h, IMAAdEvent.h, IMAAdPlaybackInfo.h, IMAAdPodInfo.h, IMAAdsManager.h: as the SDK's reference
// has them. Headers of Objective-C without annotations: none of the classes is Sendable, and none belongs to an actor.

/// A test calls the delegate.
public enum IMAAdEventType: Int, Sendable {
    case AD_BREAK_READY, AD_BREAK_FETCH_ERROR, AD_BREAK_ENDED, AD_BREAK_STARTED, AD_PERIOD_ENDED, AD_PERIOD_STARTED
    case ALL_ADS_COMPLETED, CLICKED, COMPLETE, CUEPOINTS_CHANGED, FIRST_QUARTILE, LOADED, LOG, MIDPOINT, PAUSE, RESUME
    case SKIPPED, STARTED, STREAM_LOADED, STREAM_STARTED, TAPPED, THIRD_QUARTILE
}

public enum IMAErrorType: Int, Sendable { case adUnknownErrorType, adLoadingFailed, adPlayingFailed }

public enum IMAErrorCode: Int, Sendable {
    case VAST_MALFORMED_RESPONSE = 100
    case VAST_LOAD_TIMEOUT = 301
    case UNKNOWN_ERROR = 900
}

public final class IMAAdError: NSObject {
    public let type: IMAErrorType
    public let code: IMAErrorCode
    public let message: String?

    public init(_ type: IMAErrorType, _ code: IMAErrorCode, _ message: String?) {
        (self.type, self.code, self.message) = (type, code, message)
    }
}

public final class IMAAdPodInfo: NSObject {
    public let podIndex: Int
    public init(podIndex: Int) { self.podIndex = podIndex }
}

public final class IMAAd: NSObject {
    public var adId = "ad-1"
    public var adTitle = "Soap"
    public var adDescription = "An ad about soap"
    public var adSystem = "GDFP"
    public var advertiserName = "Soap Ltd"
    public var creativeID = "c-1"
    public var duration: TimeInterval = 10
    public var vastMediaBitrate = 450
    public var vastMediaWidth = 640
    public var vastMediaHeight = 360
    public var adPodInfo = IMAAdPodInfo(podIndex: 0)
}

public final class IMAAdEvent: NSObject {
    public let type: IMAAdEventType
    public let ad: IMAAd?
    public init(_ type: IMAAdEventType, _ ad: IMAAd? = nil) { (self.type, self.ad) = (type, ad) }
}

public protocol IMAAdPlaybackInfo: NSObjectProtocol {
    var currentMediaTime: TimeInterval { get }
    var totalMediaTime: TimeInterval { get }
    var bufferedMediaTime: TimeInterval { get }
    var isPlaying: Bool { get }
}

public final class SimulatedPlayback: NSObject, IMAAdPlaybackInfo {
    public var currentMediaTime: TimeInterval = 0
    public var totalMediaTime: TimeInterval = 0
    public var bufferedMediaTime: TimeInterval = 0
    public var isPlaying = false
}

/// The last four methods are optional in the SDK.
public protocol IMAAdsManagerDelegate {
    func adsManager(_ adsManager: IMAAdsManager, didReceive event: IMAAdEvent)
    func adsManager(_ adsManager: IMAAdsManager, didReceive error: IMAAdError)
    func adsManagerDidRequestContentPause(_ adsManager: IMAAdsManager)
    func adsManagerDidRequestContentResume(_ adsManager: IMAAdsManager)
    func adsManager(_ adsManager: IMAAdsManager, adDidProgressToTime mediaTime: TimeInterval, totalTime: TimeInterval)
    func adsManagerAdPlaybackReady(_ adsManager: IMAAdsManager)
    func adsManagerAdDidStartBuffering(_ adsManager: IMAAdsManager)
    func adsManager(_ adsManager: IMAAdsManager, adDidBufferToMediaTime mediaTime: TimeInterval)
}

extension IMAAdsManagerDelegate {
    public func adsManager(
        _ adsManager: IMAAdsManager,
        adDidProgressToTime mediaTime: TimeInterval,
        totalTime: TimeInterval
    ) {}
    public func adsManagerAdPlaybackReady(_ adsManager: IMAAdsManager) {}
    public func adsManagerAdDidStartBuffering(_ adsManager: IMAAdsManager) {}
    public func adsManager(_ adsManager: IMAAdsManager, adDidBufferToMediaTime mediaTime: TimeInterval) {}
}

public final class IMAAdsManager: NSObject {
    public weak var delegate: (any NSObjectProtocol & IMAAdsManagerDelegate)?
    public let playback = SimulatedPlayback()
    public var adPlaybackInfo: any IMAAdPlaybackInfo { playback }
    public var volume: Float = 1
}
