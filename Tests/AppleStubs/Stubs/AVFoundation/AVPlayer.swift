// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Dispatch
public import Foundation
internal import Synchronization

/// NS_SWIFT_UI_ACTOR, and Sendable for that reason. What we use of it is NS_SWIFT_NONISOLATED, except the constants.
///
/// The header says of `status`, `timeControlStatus`, `reasonForWaitingToPlay` and the obscured output that they can be
/// observed, and the documentation of AVPlayer says it of `rate` and `currentItem`. That `volume`, `isMuted`,
/// `actionAtItemEnd` and `isExternalPlaybackActive` can be observed is not verified.
@MainActor
open class AVPlayer: ObservableObject, @unchecked Sendable {  // AVPlayer.h:52
    public enum TimeControlStatus: Int, Sendable {  // AVPlayer.h:184
        case paused, waitingToPlayAtSpecifiedRate, playing
    }
    public enum Status: Int, Sendable { case unknown, readyToPlay, failed }  // AVPlayer.h:31
    public enum ActionAtItemEnd: Int, Sendable { case advance, pause, none }  // AVPlayer.h:262

    public struct WaitingReason: RawRepresentable, Hashable, Sendable {  // AVPlayer.h:201
        public let rawValue: String  // AVPlayer.h:201
        public init(rawValue: String) { self.rawValue = rawValue }  // AVPlayer.h:201
        // AVPlayer.h:207
        public static let toMinimizeStalls = WaitingReason(rawValue: "AVPlayerWaitingToMinimizeStallsReason")
        // AVPlayer.h:213
        public static let evaluatingBufferingRate = WaitingReason(
            rawValue: "AVPlayerWaitingWhileEvaluatingBufferingRateReason"
        )
        // AVPlayer.h:218
        public static let noItemToPlay = WaitingReason(rawValue: "AVPlayerWaitingWithNoItemToPlayReason")
        // AVPlayerInterstitialEventController.h:455
        public static let interstitialEvent = WaitingReason(rawValue: "AVPlayerWaitingDuringInterstitialEventReason")
        // AVPlayer.h:223
        @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
        @available(watchOS, unavailable)
        public static let waitingForCoordinatedPlayback = WaitingReason(
            rawValue: "AVPlayerWaitingForCoordinatedPlaybackReason"
        )
    }

    // The type is everywhere, and its values are not on watchOS.
    public struct RateDidChangeReason: RawRepresentable, Hashable, Sendable {  // AVPlayer.h:130
        public let rawValue: String  // AVPlayer.h:130
        public init(rawValue: String) { self.rawValue = rawValue }  // AVPlayer.h:130
        // AVPlayer.h:131
        @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
        @available(watchOS, unavailable)
        public static let setRateCalled = Self(rawValue: "AVPlayerRateDidChangeReasonSetRateCalled")
        // AVPlayer.h:132
        @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
        @available(watchOS, unavailable)
        public static let setRateFailed = Self(rawValue: "AVPlayerRateDidChangeReasonSetRateFailed")
        // AVPlayer.h:133
        @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
        @available(watchOS, unavailable)
        public static let audioSessionInterrupted = Self(
            rawValue: "AVPlayerRateDidChangeReasonAudioSessionInterrupted"
        )
        // AVPlayer.h:134
        @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
        @available(watchOS, unavailable)
        public static let appBackgrounded = Self(rawValue: "AVPlayerRateDidChangeReasonAppBackgrounded")
    }

    // AVPlayer.h:118
    @available(iOS 15, macOS 12, tvOS 15, visionOS 1, watchOS 8, *)
    public class var rateDidChangeNotification: NSNotification.Name { .init("AVPlayerRateDidChangeNotification") }
    // AVPlayer.h:123
    @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
    @available(watchOS, unavailable)
    public class var rateDidChangeReasonKey: String { "AVPlayerRateDidChangeReasonKey" }

    private struct Shown {
        var rate: Float = 0
        var control = TimeControlStatus.paused
        var reason: WaitingReason?
        var item: AVPlayerItem?
        var status = Status.unknown
        var error: (any Error)?
        var volume: Float = 1
        var isMuted = false
        var action = ActionAtItemEnd.pause
        var isExternal = false
        var isObscured = false
        var time = 0.0
        var timers: [Int: @Sendable (CMTime) -> Void] = [:]
        var timerCount = 0
    }

    nonisolated private let shown: Mutex<Shown>

    nonisolated public override init() { shown = Mutex(Shown()) }  // AVPlayer.h:59
    nonisolated public init(playerItem item: AVPlayerItem?) { shown = Mutex(Shown(item: item)) }  // AVPlayer.h:97
    // AVPlayer.h:86
    nonisolated public convenience init(url: URL) { self.init(playerItem: AVPlayerItem(url: url)) }

    nonisolated public var status: Status { shown.withLock { $0.status } }  // AVPlayer.h:105
    nonisolated public var error: (any Error)? { shown.withLock { $0.error } }  // AVPlayer.h:111
    nonisolated public var rate: Float {  // AVPlayer.h:148
        get { shown.withLock { $0.rate } }
        set {
            shown.withLock { $0.rate = newValue }
            notify(\AVPlayer.rate)
        }
    }
    // AVPlayer.h:198
    nonisolated public var timeControlStatus: TimeControlStatus { shown.withLock { $0.control } }
    // AVPlayer.h:231
    nonisolated public var reasonForWaitingToPlay: WaitingReason? { shown.withLock { $0.reason } }
    nonisolated public var currentItem: AVPlayerItem? { shown.withLock { $0.item } }  // AVPlayer.h:251
    nonisolated public func currentTime() -> CMTime {  // AVPlayer.h:287
        CMTimeMake(value: Int64(shown.withLock { $0.time } * 1_000_000), timescale: 1_000_000)
    }
    nonisolated public var actionAtItemEnd: ActionAtItemEnd {  // AVPlayer.h:275
        get { shown.withLock { $0.action } }
        set {
            shown.withLock { $0.action = newValue }
            notify(\AVPlayer.actionAtItemEnd)
        }
    }
    nonisolated public var volume: Float {  // AVPlayer.h:486
        get { shown.withLock { $0.volume } }
        set {
            shown.withLock { $0.volume = newValue }
            notify(\AVPlayer.volume)
        }
    }
    nonisolated public var isMuted: Bool {  // AVPlayer.h:489
        get { shown.withLock { $0.isMuted } }
        set {
            shown.withLock { $0.isMuted = newValue }
            notify(\AVPlayer.isMuted)
        }
    }
    // AVPlayer.h:567
    @available(visionOS, unavailable)
    @available(watchOS, unavailable)
    nonisolated public var isExternalPlaybackActive: Bool { shown.withLock { $0.isExternal } }
    // AVPlayer.h:611; AVFoundation.apinotes has the name for Swift.
    @available(watchOS, unavailable)
    nonisolated public var isOutputObscuredDueToInsufficientExternalProtection: Bool {
        shown.withLock { $0.isObscured }
    }

    nonisolated public func play() {  // AVPlayer.h:166
        rate = 1
        simulate(.playing)
    }

    nonisolated public func pause() {  // AVPlayer.h:177
        rate = 0
        simulate(.paused)
    }

    // AVPlayer.h:259
    nonisolated public func replaceCurrentItem(with item: AVPlayerItem?) { simulate(item: item) }

    // AVPlayer.h:445
    nonisolated public func addPeriodicTimeObserver(
        forInterval interval: CMTime,
        queue: DispatchQueue?,
        using block: @escaping @Sendable (CMTime) -> Void
    ) -> Any {
        shown.withLock { shown in
            shown.timerCount += 1
            shown.timers[shown.timerCount] = block
            return shown.timerCount
        }
    }

    nonisolated public func removeTimeObserver(_ observer: Any) {  // AVPlayer.h:475
        guard let number = observer as? Int else { return }
        let removed = shown.withLock { $0.timers.removeValue(forKey: number) }
        precondition(removed != nil, "a time observer was removed twice")
    }
}

// For tests: `simulate…` changes what a player shows, and notifies observers on the calling thread.
extension AVPlayer {
    /// The number of periodic time observers.
    nonisolated public var timeObserverCount: Int { shown.withLock { $0.timers.count } }

    /// The playhead moves; periodic observers are called.
    nonisolated public func simulate(time: Double) {
        let timers = shown.withLock { shown in
            shown.time = time
            return Array(shown.timers.values)
        }
        for timer in timers { timer(currentTime()) }
    }

    nonisolated public func simulate(_ control: TimeControlStatus, because reason: WaitingReason? = nil) {
        shown.withLock { ($0.control, $0.reason) = (control, reason) }
        notify(\AVPlayer.timeControlStatus)
        notify(\AVPlayer.reasonForWaitingToPlay)
    }

    nonisolated public func simulate(item: AVPlayerItem?) {
        shown.withLock { ($0.item, $0.time) = (item, 0) }
        notify(\AVPlayer.currentItem)
    }

    nonisolated public func simulate(obscured isObscured: Bool) {
        shown.withLock { $0.isObscured = isObscured }
        notify(\AVPlayer.isOutputObscuredDueToInsufficientExternalProtection)
    }

    nonisolated public func simulate(rateChangeBecause reason: RateDidChangeReason) {
        NotificationCenter.default.post(
            name: .init("AVPlayerRateDidChangeNotification"),
            object: self,
            userInfo: ["AVPlayerRateDidChangeReasonKey": reason.rawValue]
        )
    }

    nonisolated public func simulate(externalPlayback isActive: Bool) {
        shown.withLock { $0.isExternal = isActive }
        notify(\AVPlayer.isExternalPlaybackActive)
    }

    nonisolated public func simulate(failure: any Error) {
        shown.withLock { ($0.error, $0.status) = (failure, .failed) }
        notify(\AVPlayer.status)
    }
}

@MainActor
open class AVQueuePlayer: AVPlayer, @unchecked Sendable {  // AVPlayer.h:834
    nonisolated public override init() { super.init() }  // AVPlayer.h:59
    // AVPlayer.h:97
    nonisolated public override init(playerItem item: AVPlayerItem?) { super.init(playerItem: item) }
}
