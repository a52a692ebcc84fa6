#if IMA && canImport(GoogleInteractiveMediaAds)
public import Foundation
public import GoogleInteractiveMediaAds
public import Instrument

/// Watches the ads that Google's IMA SDK plays.
///
/// ```swift
/// let ads = IMAMonitor()
/// instrument.add(AdTracker(ads), adsOf: content)
///
/// func adsLoader(_ loader: IMAAdsLoader, adsLoadedWith data: IMAAdsLoadedData) {
///     guard let manager = data.adsManager else { return }
///     ads.watch(manager, forwardingTo: self)   // instead of `manager.delegate = self`
///     manager.initialize(with: nil)
/// }
/// ```
///
/// The monitor becomes the manager's delegate and forwards each call to the app's delegate, after it has taken it.
/// Neither the manager nor the app's delegate is kept alive.
///
/// Call ``watch(_:forwardingTo:)`` on the main thread; the SDK calls its delegate there, and signals come there, one at
/// a time.
///
/// Compiled against declarations of the SDK on Linux, with its logic tested there; not run on an Apple platform.
public final class IMAMonitor: AdPlayer {
    /// Sent as `trackerTarget`.
    public let name: String
    private let clock: any SchedulingClock
    private let outlet = SignalOutlet<IMAModel, AdPlayerSignal> { IMAModel() }
    private let relay = Lock<IMADelegateRelay?>(nil)

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - name: what `trackerTarget` says.
    ///   - clock: times what is observed; the instrument must have the same clock.
    public init(name: String = "IMA", clock: any SchedulingClock = SystemClock()) {
        (self.name, self.clock) = (name, clock)
    }

    /// The status of the ad.
    public var status: AdStatus { outlet.read(\.status) }

    /// The fields of `PrivacyCatalogue.ima`.
    public var declaredFields: PrivacyCatalogue { .ima }

    /// Reports signals to `observer`.
    public func report(to observer: (@Sendable (AdPlayerSignal) -> Void)?) { _ = outlet.listen(observer) }

    /// Watches an ads manager from now on, in place of the one before.
    ///
    /// - Parameters:
    ///   - manager: the manager, whose delegate the monitor becomes.
    ///   - delegate: the app's delegate, which receives every call as before. It is held weakly.
    public func watch(_ manager: IMAAdsManager, forwardingTo delegate: (any NSObjectProtocol & IMAAdsManagerDelegate)?)
    {
        let relay = IMADelegateRelay(to: delegate) { [weak self] observation, playback in
            guard let self else { return }
            let now = clock.now
            outlet.change { $0.observe(observation, playback, at: now) }
        }
        // The manager holds its delegate weakly.
        self.relay.withLock { $0 = relay }
        manager.delegate = relay
    }
}
#endif
