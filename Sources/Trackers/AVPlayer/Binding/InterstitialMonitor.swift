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
        let note: @Sendable () -> Void = { [weak monitor] in
            guard let monitor else { return }
            let (now, facts) = (clock.now, monitor.currentEvent.map(InterstitialFacts.init))
            MainThread.run { if !tokens.isCancelled { report(.observation(.interstitialEvent(facts)), now) } }
        }
        let name = AVPlayerInterstitialEventMonitor.currentEventDidChangeNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: monitor, queue: nil) { @Sendable _ in
            note()
        }
        // The monitor lives as long as the observation.
        tokens.add { _ = monitor }
        tokens.add { NotificationCenter.default.removeObserver(token) }
        // The names below are in the SDKs of Xcode 26, whose compiler is Swift 6.2.
        #if compiler(>=6.2)
        if #available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *) { observeEnds(monitor, tokens, report) }
        #endif
        note()
        let observation = adapter.observePlayer(report)
        tokens.add { observation.cancel() }
    }
}

#if compiler(>=6.2)
@available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
extension InterstitialAdapter {
    /// Observes events that the person skipped, and those that were removed because of an error.
    @MainActor
    private func observeEnds(
        _ monitor: AVPlayerInterstitialEventMonitor,
        _ tokens: ObservationTokens,
        _ report: @escaping PlayerNoticeHandler
    ) {
        let clock = clock
        let note: @Sendable (AVPlayerObservation) -> Void = { observation in
            let now = clock.now
            MainThread.run { if !tokens.isCancelled { report(.observation(observation), now) } }
        }
        typealias Monitor = AVPlayerInterstitialEventMonitor
        let center = NotificationCenter.default
        let skips = center.addObserver(
            forName: Monitor.currentEventSkippedNotification,
            object: monitor,
            queue: nil
        ) { @Sendable notification in
            let event = notification.userInfo?[Monitor.currentEventSkippedEventKey]
            guard let event = event as? AVPlayerInterstitialEvent else { return }
            note(.interstitialSkipped(event.identifier))
        }
        let removals = center.addObserver(
            forName: Monitor.interstitialEventWasUnscheduledNotification,
            object: monitor,
            queue: nil
        ) { @Sendable notification in
            let event = notification.userInfo?[Monitor.interstitialEventWasUnscheduledEventKey]
            let error = notification.userInfo?[Monitor.interstitialEventWasUnscheduledErrorKey] as? any Error
            guard let event = event as? AVPlayerInterstitialEvent, let error else { return }
            note(.interstitialFailed(event.identifier, PlayerFailure(error)))
        }
        tokens.add { for token in [skips, removals] { center.removeObserver(token) } }
    }
}
#endif

extension InterstitialFacts {
    init(_ event: AVPlayerInterstitialEvent) {
        let content = event.primaryItem.map { item in
            Content(position: CMTimeGetSeconds(item.currentTime()), duration: CMTimeGetSeconds(item.duration))
        }
        self.init(
            identifier: event.identifier,
            cue: event.cue == .joinCue ? .join : event.cue == .leaveCue ? .leave : .none,
            time: CMTimeGetSeconds(event.time),
            content: content ?? Content()
        )
    }
}
#endif
