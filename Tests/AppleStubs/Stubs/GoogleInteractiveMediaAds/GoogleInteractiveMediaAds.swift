// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// Headers without annotations: none of the classes is Sendable, and none belongs to an actor. What can be nil is from
// the reference of the SDK.

public enum IMAAdEventType: Int, Sendable {  // IMAAdEvent.h:19
    case AD_BREAK_READY, AD_BREAK_FETCH_ERROR, AD_BREAK_ENDED, AD_BREAK_STARTED, AD_PERIOD_ENDED, AD_PERIOD_STARTED
    case ALL_ADS_COMPLETED, CLICKED, COMPLETE, CUEPOINTS_CHANGED, ICON_FALLBACK_IMAGE_CLOSED, ICON_TAPPED
    case FIRST_QUARTILE, LOADED, LOG, MIDPOINT, PAUSE, RESUME, SKIPPED, STARTED, STREAM_LOADED, STREAM_STARTED
    case TAPPED, THIRD_QUARTILE
}

// IMAAdError.h:17
public enum IMAErrorType: Int, Sendable { case adUnknownErrorType, adLoadingFailed, adPlayingFailed }

public enum IMAErrorCode: Int, Sendable {  // IMAAdError.h:38
    case VAST_MALFORMED_RESPONSE = 100
    case VAST_LOAD_TIMEOUT = 301
    case UNKNOWN_ERROR = 900
}

public final class IMAAdError: NSObject {  // IMAAdError.h:152
    public let type: IMAErrorType  // IMAAdError.h:157
    public let code: IMAErrorCode  // IMAAdError.h:162
    public let message: String?  // IMAAdError.h:167

    // For tests.
    public init(_ type: IMAErrorType, _ code: IMAErrorCode, _ message: String?) {
        (self.type, self.code, self.message) = (type, code, message)
    }
}

public final class IMAAdPodInfo: NSObject {  // IMAAdPodInfo.h:14
    public let podIndex: Int  // IMAAdPodInfo.h:42
    public init(podIndex: Int) { self.podIndex = podIndex }  // For tests.
}

/// The properties are read-only, except for tests.
public final class IMAAd: NSObject {  // IMAAd.h:20
    public var adId = "ad-1"  // IMAAd.h:25
    public var adTitle = "Soap"  // IMAAd.h:30
    public var adDescription = "An ad about soap"  // IMAAd.h:35
    public var adSystem = "GDFP"  // IMAAd.h:40
    public var advertiserName = "Soap Ltd"  // IMAAd.h:159
    public var creativeID = "c-1"  // IMAAd.h:128
    public var duration: TimeInterval = 10  // IMAAd.h:55
    public var vastMediaBitrate = 450  // IMAAd.h:97
    public var vastMediaWidth = 640  // IMAAd.h:87
    public var vastMediaHeight = 360  // IMAAd.h:92
    public var adPodInfo = IMAAdPodInfo(podIndex: 0)  // IMAAd.h:118
}

public final class IMAAdEvent: NSObject {  // IMAAdEvent.h:143
    public let type: IMAAdEventType  // IMAAdEvent.h:148
    public let ad: IMAAd?  // IMAAdEvent.h:159
    // For tests.
    public init(_ type: IMAAdEventType, _ ad: IMAAd? = nil) { (self.type, self.ad) = (type, ad) }
}

public protocol IMAAdPlaybackInfo: NSObjectProtocol {  // IMAAdPlaybackInfo.h:14
    var currentMediaTime: TimeInterval { get }  // IMAAdPlaybackInfo.h:19
    var totalMediaTime: TimeInterval { get }  // IMAAdPlaybackInfo.h:24
    var bufferedMediaTime: TimeInterval { get }  // IMAAdPlaybackInfo.h:29
    var isPlaying: Bool { get }  // IMAAdPlaybackInfo.h:34
}

// For tests.
public final class SimulatedPlayback: NSObject, IMAAdPlaybackInfo {
    public var currentMediaTime: TimeInterval = 0
    public var totalMediaTime: TimeInterval = 0
    public var bufferedMediaTime: TimeInterval = 0
    public var isPlaying = false
}

/// The last four methods are optional in the SDK.
public protocol IMAAdsManagerDelegate {  // IMAAdsManager.h:51
    func adsManager(_ adsManager: IMAAdsManager, didReceive event: IMAAdEvent)  // IMAAdsManager.h:59
    func adsManager(_ adsManager: IMAAdsManager, didReceive error: IMAAdError)  // IMAAdsManager.h:68
    func adsManagerDidRequestContentPause(_ adsManager: IMAAdsManager)  // IMAAdsManager.h:77
    func adsManagerDidRequestContentResume(_ adsManager: IMAAdsManager)  // IMAAdsManager.h:85
    // IMAAdsManager.h:96
    func adsManager(_ adsManager: IMAAdsManager, adDidProgressToTime mediaTime: TimeInterval, totalTime: TimeInterval)
    func adsManagerAdPlaybackReady(_ adsManager: IMAAdsManager)  // IMAAdsManager.h:106
    func adsManagerAdDidStartBuffering(_ adsManager: IMAAdsManager)  // IMAAdsManager.h:113
    // IMAAdsManager.h:121
    func adsManager(_ adsManager: IMAAdsManager, adDidBufferToMediaTime mediaTime: TimeInterval)
}

// For tests: without the Objective-C runtime, an optional method is one with a default.
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

/// A test calls the delegate.
public final class IMAAdsManager: NSObject {  // IMAAdsManager.h:130
    public weak var delegate: (any NSObjectProtocol & IMAAdsManagerDelegate)?  // IMAAdsManager.h:135
    public let playback = SimulatedPlayback()  // For tests.
    public var adPlaybackInfo: any IMAAdPlaybackInfo { playback }  // IMAAdsManager.h:147
    public var volume: Float = 1  // IMAAdsManager.h:153
}
