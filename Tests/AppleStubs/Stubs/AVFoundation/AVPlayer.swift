// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Dispatch
public import Foundation
internal import Synchronization

/// AVPlayer.h, as Apple's documentation has it (NS_SWIFT_UI_ACTOR): of the main actor, with the transport readable
/// from any thread. The isolation of `volume`, `isMuted`, `actionAtItemEnd`, `status` and `error` is not verified: the
/// stricter one.
///
/// The methods `simulate…` are ours: they change what a player shows, and notify observers on the calling thread.
@MainActor
open class AVPlayer: ObservableObject, @unchecked Sendable {
    public enum TimeControlStatus: Int, Sendable { case paused, waitingToPlayAtSpecifiedRate, playing }
    public enum Status: Int, Sendable { case unknown, readyToPlay, failed }
    public enum ActionAtItemEnd: Int, Sendable { case advance, pause, none }

    public struct WaitingReason: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let toMinimizeStalls = WaitingReason(rawValue: "AVPlayerWaitingToMinimizeStallsReason")
        public static let evaluatingBufferingRate = WaitingReason(
            rawValue: "AVPlayerWaitingWhileEvaluatingBufferingRateReason"
        )
        public static let noItemToPlay = WaitingReason(rawValue: "AVPlayerWaitingWithNoItemToPlayReason")
        public static let interstitialEvent = WaitingReason(rawValue: "AVPlayerWaitingDuringInterstitialEventReason")
        @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
        @available(watchOS, unavailable)
        public static let waitingForCoordinatedPlayback = WaitingReason(
            rawValue: "AVPlayerWaitingForCoordinatedPlaybackReason"
        )
    }

    @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
    @available(watchOS, unavailable)
    public struct RateDidChangeReason: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let setRateCalled = Self(rawValue: "AVPlayerRateDidChangeReasonSetRateCalled")
        public static let setRateFailed = Self(rawValue: "AVPlayerRateDidChangeReasonSetRateFailed")
        public static let audioSessionInterrupted = Self(
            rawValue: "AVPlayerRateDidChangeReasonAudioSessionInterrupted"
        )
        public static let appBackgrounded = Self(rawValue: "AVPlayerRateDidChangeReasonAppBackgrounded")
    }

    @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
    @available(watchOS, unavailable)
    public class var rateDidChangeNotification: NSNotification.Name { .init("AVPlayerRateDidChangeNotification") }
    @available(iOS 15, macOS 12, tvOS 15, visionOS 1, *)
    @available(watchOS, unavailable)
    public class var rateDidChangeReasonKey: String { "AVPlayerRateDidChangeReasonKey" }

    private struct Transport {
        var rate: Float = 0
        var control = TimeControlStatus.paused
        var reason: WaitingReason?
        var item: AVPlayerItem?
        var isObscured = false
        var time = 0.0
        var timers: [Int: @Sendable (CMTime) -> Void] = [:]
        var timerCount = 0
    }

    nonisolated private let transport: Mutex<Transport>

    nonisolated public override init() { transport = Mutex(Transport()) }

    nonisolated public init(playerItem item: AVPlayerItem?) { transport = Mutex(Transport(item: item)) }

    nonisolated public convenience init(url: URL) { self.init(playerItem: AVPlayerItem(url: url)) }

    nonisolated public var rate: Float {
        get { transport.withLock { $0.rate } }
        set {
            transport.withLock { $0.rate = newValue }
            notify(\AVPlayer.rate)
        }
    }
    nonisolated public var timeControlStatus: TimeControlStatus { transport.withLock { $0.control } }
    nonisolated public var reasonForWaitingToPlay: WaitingReason? { transport.withLock { $0.reason } }
    nonisolated public var currentItem: AVPlayerItem? { transport.withLock { $0.item } }
    nonisolated public func currentTime() -> CMTime {
        CMTimeMake(value: Int64(transport.withLock { $0.time } * 1_000_000), timescale: 1_000_000)
    }

    public var volume: Float = 1 { didSet { notify(\AVPlayer.volume) } }
    public var isMuted = false { didSet { notify(\AVPlayer.isMuted) } }
    public var actionAtItemEnd = ActionAtItemEnd.pause { didSet { notify(\AVPlayer.actionAtItemEnd) } }
    @available(visionOS, unavailable)
    @available(watchOS, unavailable)
    public internal(set) var isExternalPlaybackActive = false {
        didSet { notify(\AVPlayer.isExternalPlaybackActive) }
    }
    // Documented as `nonisolated`. That it can be observed is not verified.
    @available(watchOS, unavailable)
    nonisolated public var isOutputObscuredDueToInsufficientExternalProtection: Bool {
        transport.withLock { $0.isObscured }
    }
    public internal(set) var status = Status.unknown { didSet { notify(\AVPlayer.status) } }
    public internal(set) var error: (any Error)?

    nonisolated public func play() {
        rate = 1
        simulate(.playing)
    }

    nonisolated public func pause() {
        rate = 0
        simulate(.paused)
    }

    public func replaceCurrentItem(with item: AVPlayerItem?) { simulate(item: item) }

    public func addPeriodicTimeObserver(
        forInterval interval: CMTime,
        queue: DispatchQueue?,
        using block: @escaping @Sendable (CMTime) -> Void
    ) -> Any {
        transport.withLock { transport in
            transport.timerCount += 1
            transport.timers[transport.timerCount] = block
            return transport.timerCount
        }
    }

    public func removeTimeObserver(_ observer: Any) {
        guard let number = observer as? Int else { return }
        let removed = transport.withLock { $0.timers.removeValue(forKey: number) }
        precondition(removed != nil, "a time observer was removed twice")
    }
}

extension AVPlayer {
    /// The number of periodic time observers.
    nonisolated public var timeObserverCount: Int { transport.withLock { $0.timers.count } }

    /// The playhead moves; periodic observers are called.
    nonisolated public func simulate(time: Double) {
        let timers = transport.withLock { transport in
            transport.time = time
            return Array(transport.timers.values)
        }
        for timer in timers { timer(currentTime()) }
    }

    nonisolated public func simulate(_ control: TimeControlStatus, because reason: WaitingReason? = nil) {
        transport.withLock { ($0.control, $0.reason) = (control, reason) }
        notify(\AVPlayer.timeControlStatus)
        notify(\AVPlayer.reasonForWaitingToPlay)
    }

    nonisolated public func simulate(item: AVPlayerItem?) {
        transport.withLock { ($0.item, $0.time) = (item, 0) }
        notify(\AVPlayer.currentItem)
    }

    nonisolated public func simulate(obscured isObscured: Bool) {
        transport.withLock { $0.isObscured = isObscured }
        notify(\AVPlayer.isOutputObscuredDueToInsufficientExternalProtection)
    }

    nonisolated public func simulate(rateChangeBecause reason: RateDidChangeReason) {
        NotificationCenter.default.post(
            name: .init("AVPlayerRateDidChangeNotification"),
            object: self,
            userInfo: ["AVPlayerRateDidChangeReasonKey": reason.rawValue]
        )
    }

    public func simulate(externalPlayback isActive: Bool) { isExternalPlaybackActive = isActive }

    public func simulate(failure: any Error) { (error, status) = (failure, .failed) }
}

@MainActor
open class AVQueuePlayer: AVPlayer, @unchecked Sendable {
    nonisolated public override init() { super.init() }
    nonisolated public override init(playerItem item: AVPlayerItem?) { super.init(playerItem: item) }
}
