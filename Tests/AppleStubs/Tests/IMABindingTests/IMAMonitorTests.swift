import Foundation
import GoogleInteractiveMediaAds
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentIMA

/// The app's delegate; has not all of the optional methods.
private final class AppDelegate: NSObject, IMAAdsManagerDelegate, @unchecked Sendable {
    // Sendable: touched by one test's thread.
    var calls: [String] = []

    func adsManager(_ adsManager: IMAAdsManager, didReceive event: IMAAdEvent) { calls.append("event \(event.type)") }
    func adsManager(_ adsManager: IMAAdsManager, didReceive error: IMAAdError) { calls.append("error \(error.code)") }
    func adsManagerDidRequestContentPause(_ adsManager: IMAAdsManager) { calls.append("pause") }
    func adsManagerDidRequestContentResume(_ adsManager: IMAAdsManager) { calls.append("resume") }
    func adsManagerAdPlaybackReady(_ adsManager: IMAAdsManager) { calls.append("ready") }
}

@Suite("IMAMonitor over declared classes")
struct IMAMonitorTests {
    private let monitor = IMAMonitor(clock: VirtualClock())
    private let manager = IMAAdsManager()
    private let signals = Lock<[AdPlayerSignal]>([])

    private func listen(forwardingTo delegate: (any NSObjectProtocol & IMAAdsManagerDelegate)? = nil) {
        let signals = signals
        monitor.report { signal in signals.withLock { $0.append(signal) } }
        monitor.watch(manager, forwardingTo: delegate)
    }

    private var actions: [String] { signals.withLock { $0.map(\.action.name) } }

    private func send(_ events: IMAAdEvent...) {
        for event in events { manager.delegate?.adsManager(manager, didReceive: event) }
    }

    @Test("A break with an ad is reported with the ad's description and the playback's times")
    func adBreak() {
        listen()
        let ad = IMAAd()
        ad.adPodInfo = IMAAdPodInfo(podIndex: -1)
        manager.delegate?.adsManagerDidRequestContentPause(manager)
        send(IMAAdEvent(.LOADED, ad), IMAAdEvent(.STARTED, ad))
        (manager.playback.currentMediaTime, manager.playback.totalMediaTime, manager.playback.bufferedMediaTime) = (
            5, 10, 8
        )
        manager.volume = 0.5
        manager.delegate?.adsManagerAdDidStartBuffering(manager)
        manager.delegate?.adsManagerAdPlaybackReady(manager)
        manager.delegate?.adsManager(manager, adDidProgressToTime: 5, totalTime: 10)
        manager.delegate?.adsManager(manager, adDidBufferToMediaTime: 8)
        send(IMAAdEvent(.MIDPOINT), IMAAdEvent(.CLICKED), IMAAdEvent(.SKIPPED))
        manager.delegate?.adsManagerDidRequestContentResume(manager)
        #expect(
            actions == [
                "AdBreakBegin", "AdBegin", "AdBufferBegin", "AdBufferFinish", "AdFirstQuartile", "AdSecondQuartile",
                "AdClick", "AdSkip",
                "AdFinish", "AdBreakFinish",
            ]
        )
        let click = signals.withLock { $0.first { $0.action == .adClick } }?.status
        #expect([click?.id, click?.title, click?.system, click?.creativeID] == ["ad-1", "Soap", "GDFP", "c-1"])
        #expect([click?.position, click?.duration, click?.bufferedTime] == [.seconds(5), .seconds(10), .seconds(8)])
        #expect(
            [click?.volume, click?.bitrate, click?.resolutionWidth, click?.resolutionHeight] == [50, 450_000, 640, 360]
        )
        #expect(click?.roll == .post)
    }

    @Test(
        "Each event of the SDK has its meaning",
        arguments: [
            (IMAAdEventType.LOADED, IMAEvent.loaded), (.STARTED, .started), (.FIRST_QUARTILE, .firstQuartile),
            (.MIDPOINT, .midpoint),
            (.THIRD_QUARTILE, .thirdQuartile), (.COMPLETE, .complete), (.SKIPPED, .skipped), (.PAUSE, .paused),
            (.RESUME, .resumed),
            (.TAPPED, .tapped), (.CLICKED, .clicked), (.AD_BREAK_STARTED, .breakStarted),
            (.AD_BREAK_ENDED, .breakEnded),
            (.AD_BREAK_FETCH_ERROR, .breakFetchError), (.ALL_ADS_COMPLETED, .allAdsCompleted), (.LOG, .other),
            (.CUEPOINTS_CHANGED, .other),
        ]
    )
    func events(_ type: IMAAdEventType, _ event: IMAEvent) { #expect(IMAEvent(type) == event) }

    @Test("The app's delegate receives every call that it implements, in order")
    func forwarding() {
        let delegate = AppDelegate()
        listen(forwardingTo: delegate)
        manager.delegate?.adsManagerDidRequestContentPause(manager)
        send(IMAAdEvent(.STARTED, IMAAd()))
        manager.delegate?.adsManagerAdDidStartBuffering(manager)
        manager.delegate?.adsManagerAdPlaybackReady(manager)
        manager.delegate?.adsManager(manager, didReceive: IMAAdError(.adPlayingFailed, .VAST_LOAD_TIMEOUT, "late"))
        manager.delegate?.adsManagerDidRequestContentResume(manager)
        #expect(delegate.calls == ["pause", "event STARTED", "ready", "error VAST_LOAD_TIMEOUT", "resume"])
        let error = signals.withLock { $0.first { $0.action == .adError } }
        #expect(
            [error?.attributes[.errorCode], error?.attributes[.errorType], error?.attributes[.errorDescription]] == [
                "301", "adPlayingFailed", "late",
            ]
        )
    }

    @Test("Neither the app's delegate nor the manager is kept alive")
    func lifetime() {
        weak var goneDelegate: AppDelegate?
        weak var goneManager: IMAAdsManager?
        do {
            let (delegate, manager) = (AppDelegate(), IMAAdsManager())
            (goneDelegate, goneManager) = (delegate, manager)
            monitor.watch(manager, forwardingTo: delegate)
            manager.delegate?.adsManagerDidRequestContentPause(manager)
        }
        #expect(goneDelegate == nil)
        #expect(goneManager == nil)
    }

    @Test("A manager that outlives its monitor reports to no listener, and does not fail")
    func dropped() {
        do {
            let monitor = IMAMonitor(clock: VirtualClock())
            monitor.watch(manager, forwardingTo: nil)
        }
        #expect(manager.delegate == nil)
        send(IMAAdEvent(.STARTED, IMAAd()))
    }

    @Test("A tracker over the monitor keeps the promises of every tracker")
    func contract() async throws {
        let monitors = Lock<[IMAMonitor]>([])
        try await TrackerContract.check {
            let monitor = IMAMonitor()
            monitors.withLock { $0 = [monitor] }
            return AdTracker(monitor)
        } exercise: { _ in
            let manager = IMAAdsManager()
            for monitor in monitors.withLock({ $0 }) { monitor.watch(manager, forwardingTo: nil) }
            manager.delegate?.adsManager(manager, didReceive: IMAAdError(.adLoadingFailed, .UNKNOWN_ERROR, nil))
        }
    }
}
