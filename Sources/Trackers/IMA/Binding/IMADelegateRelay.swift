#if IMA && canImport(GoogleInteractiveMediaAds)
internal import Foundation
internal import GoogleInteractiveMediaAds
internal import Instrument

/// Stands between an ads manager and the app's delegate.
///
/// Sendable, unchecked: `delegate` is set before the manager knows the relay, and read on the main thread, where the
/// SDK calls.
final class IMADelegateRelay: NSObject, IMAAdsManagerDelegate, @unchecked Sendable {
    private weak var delegate: (any NSObjectProtocol & IMAAdsManagerDelegate)?
    private let report: @Sendable (IMAObservation, AdPlayback?) -> Void

    init(
        to delegate: (any NSObjectProtocol & IMAAdsManagerDelegate)?,
        _ report: @escaping @Sendable (IMAObservation, AdPlayback?) -> Void
    ) {
        self.delegate = delegate
        self.report = report
    }

    func adsManager(_ adsManager: IMAAdsManager, didReceive event: IMAAdEvent) {
        report(.event(IMAEvent(event.type), event.ad.map(AdFacts.init)), AdPlayback(adsManager))
        delegate?.adsManager(adsManager, didReceive: event)
    }

    func adsManager(_ adsManager: IMAAdsManager, didReceive error: IMAAdError) {
        report(.error(IMAFailure(error)), AdPlayback(adsManager))
        delegate?.adsManager(adsManager, didReceive: error)
    }

    func adsManagerDidRequestContentPause(_ adsManager: IMAAdsManager) {
        report(.contentPauseRequest, AdPlayback(adsManager))
        delegate?.adsManagerDidRequestContentPause(adsManager)
    }

    func adsManagerDidRequestContentResume(_ adsManager: IMAAdsManager) {
        report(.contentResumeRequest, AdPlayback(adsManager))
        delegate?.adsManagerDidRequestContentResume(adsManager)
    }

    // The methods below are optional in the SDK, which only the Objective-C runtime knows.

    func adsManager(_ adsManager: IMAAdsManager, adDidProgressToTime mediaTime: TimeInterval, totalTime: TimeInterval) {
        report(.progress, AdPlayback(adsManager))
        #if canImport(ObjectiveC)
        delegate?.adsManager?(adsManager, adDidProgressToTime: mediaTime, totalTime: totalTime)
        #else
        delegate?.adsManager(adsManager, adDidProgressToTime: mediaTime, totalTime: totalTime)
        #endif
    }

    func adsManagerAdPlaybackReady(_ adsManager: IMAAdsManager) {
        report(.playbackReady, AdPlayback(adsManager))
        #if canImport(ObjectiveC)
        delegate?.adsManagerAdPlaybackReady?(adsManager)
        #else
        delegate?.adsManagerAdPlaybackReady(adsManager)
        #endif
    }

    func adsManagerAdDidStartBuffering(_ adsManager: IMAAdsManager) {
        report(.bufferingStart, AdPlayback(adsManager))
        #if canImport(ObjectiveC)
        delegate?.adsManagerAdDidStartBuffering?(adsManager)
        #else
        delegate?.adsManagerAdDidStartBuffering(adsManager)
        #endif
    }

    func adsManager(_ adsManager: IMAAdsManager, adDidBufferToMediaTime mediaTime: TimeInterval) {
        #if canImport(ObjectiveC)
        delegate?.adsManager?(adsManager, adDidBufferToMediaTime: mediaTime)
        #else
        delegate?.adsManager(adsManager, adDidBufferToMediaTime: mediaTime)
        #endif
    }
}

extension IMAEvent {
    init(_ type: IMAAdEventType) {
        switch type {
        case .LOADED: self = .loaded
        case .STARTED: self = .started
        case .FIRST_QUARTILE: self = .firstQuartile
        case .MIDPOINT: self = .midpoint
        case .THIRD_QUARTILE: self = .thirdQuartile
        case .COMPLETE: self = .complete
        case .SKIPPED: self = .skipped
        case .PAUSE: self = .paused
        case .RESUME: self = .resumed
        case .TAPPED: self = .tapped
        case .CLICKED: self = .clicked
        case .AD_BREAK_STARTED: self = .breakStarted
        case .AD_BREAK_ENDED: self = .breakEnded
        case .AD_BREAK_FETCH_ERROR: self = .breakFetchError
        case .ALL_ADS_COMPLETED: self = .allAdsCompleted
        default: self = .other
        }
    }
}

extension AdFacts {
    init(_ ad: IMAAd) {
        self.init(
            id: ad.adId,
            title: ad.adTitle,
            description: ad.adDescription,
            system: ad.adSystem,
            advertiserName: ad.advertiserName,
            creativeID: ad.creativeID,
            duration: ad.duration,
            vastBitrate: ad.vastMediaBitrate,
            vastWidth: ad.vastMediaWidth,
            vastHeight: ad.vastMediaHeight,
            podIndex: ad.adPodInfo.podIndex
        )
    }
}

extension AdPlayback {
    init(_ manager: IMAAdsManager) {
        let info = manager.adPlaybackInfo
        self.init(
            currentTime: info.currentMediaTime,
            totalTime: info.totalMediaTime,
            bufferedTime: info.bufferedMediaTime,
            volume: Double(manager.volume)
        )
    }
}

extension IMAFailure {
    init(_ error: IMAAdError) {
        let type =
            switch error.type {
            case .adLoadingFailed: "adLoadingFailed"
            case .adPlayingFailed: "adPlayingFailed"
            default: "unknown"
            }
        self.init(code: error.code.rawValue, type: type, message: error.message)
    }
}
#endif
