#if canImport(AVFoundation)
public import AVFoundation
internal import Foundation
public import Instrument

/// Watches the interstitials of an AVPlayer as ads: those of an HLS playlist, and those that an
/// `AVPlayerInterstitialEventController` schedules.
///
/// ```swift
/// let content = instrument.add(PlayerTracker(AVPlayerMonitor(player)))
/// instrument.add(AdTracker(InterstitialMonitor(player)), adsOf: content)
/// ```
///
/// An interstitial event is an ad break (`AdBreakBegin`, `AdBreakFinish`), each of its items is an ad. The content is
/// paused meanwhile.
///
/// Compiled against declarations of AVFoundation on Linux, with its logic tested there; not run on an Apple platform.
public final class InterstitialMonitor: AdPlayer {
    /// Sent as `trackerTarget`.
    public let name: String
    private let watch: PlayerWatch<InterstitialModel>
    private let clock: any SchedulingClock

    /// Creates a monitor that observes the interstitials of `player` while a tracker listens.
    ///
    /// - Parameters:
    ///   - player: the primary player, which is held weakly.
    ///   - name: what `trackerTarget` says.
    ///   - clock: times what is observed; the instrument must have the same clock.
    public init(_ player: AVPlayer, name: String = "AVPlayer", clock: any SchedulingClock = SystemClock()) {
        (self.name, self.clock) = (name, clock)
        watch = PlayerWatch(InterstitialAdapter(player, clock: clock))
    }

    /// The status of the ad; the position is extrapolated to the moment of the call.
    public var status: AdStatus {
        let now = clock.now
        return watch.read { $0.status(at: now) }
    }

    /// The fields of `PrivacyCatalogue.avPlayer`.
    public var declaredFields: PrivacyCatalogue { .avPlayer }

    /// Reports signals to `observer`.
    public func report(to observer: (@Sendable (AdPlayerSignal) -> Void)?) { watch.report(to: observer) }
}

/// The player of interstitials, with the events that it plays. Holds the primary player weakly.
final class InterstitialAdapter: ObservedPlayer {
    private struct State {
        weak var primary: AVPlayer?
        var interstitials: AVPlayerAdapter?
    }

    private let state: Lock<State>
    private let clock: any SchedulingClock

    init(_ primary: AVPlayer, clock: any SchedulingClock) {
        state = Lock(State(primary: primary))
        self.clock = clock
    }

    private var interstitials: AVPlayerAdapter? { state.withLock { $0.interstitials } }

    func observePlayer(_ report: @escaping PlayerNoticeHandler) -> Observation {
        MainThread.observe { [weak self] tokens in
            guard let self, let primary = state.withLock({ $0.primary }) else { return }
            begin(AVPlayerInterstitialEventMonitor(primaryPlayer: primary), tokens, report)
        }
    }

    func observeItem(_ item: ItemID, _ report: @escaping PlayerNoticeHandler) -> Observation {
        interstitials?.observeItem(item, report) ?? Observation {}
    }

    func accessLog(of item: ItemID) -> [AccessLogEntry] { interstitials?.accessLog(of: item) ?? [] }
    func errorLog(of item: ItemID) -> [PlayerFailure] { interstitials?.errorLog(of: item) ?? [] }

    @MainActor
    private func begin(
        _ monitor: AVPlayerInterstitialEventMonitor,
        _ tokens: ObservationTokens,
        _ report: @escaping PlayerNoticeHandler
    ) {
        let clock = clock
        let adapter = AVPlayerAdapter(monitor.interstitialPlayer, clock: clock)
        state.withLock { $0.interstitials = adapter }
        let current = MonitorReference(monitor)
        let note: @Sendable () -> Void = { [weak current] in
            let now = clock.now
            MainThread.run {
                guard !tokens.isCancelled, let current else { return }
                report(.observation(.interstitialEvent(current.facts)), now)
            }
        }
        let name = AVPlayerInterstitialEventMonitor.currentEventDidChangeNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: monitor, queue: nil) { @Sendable _ in
            note()
        }
        // The monitor lives as long as the observation.
        tokens.add { _ = current }
        tokens.add { NotificationCenter.default.removeObserver(token) }
        note()
        let observation = adapter.observePlayer(report)
        tokens.add { observation.cancel() }
    }
}

/// The system's monitor, which the main thread alone may touch.
@MainActor
private final class MonitorReference {
    private let monitor: AVPlayerInterstitialEventMonitor

    init(_ monitor: AVPlayerInterstitialEventMonitor) { self.monitor = monitor }

    var facts: InterstitialFacts? {
        monitor.currentEvent.map { event in
            let isFirst = event.cue == .joinCue || CMTimeGetSeconds(event.time) == 0
            let roll: AdRoll = event.cue == .leaveCue ? .post : isFirst ? .pre : .mid
            return InterstitialFacts(identifier: event.identifier, roll: roll)
        }
    }
}
#endif
