#if canImport(AVFoundation)
public import AVFoundation
public import Instrument

/// Watches an AVPlayer or AVQueuePlayer.
///
/// ```swift
/// let monitor = AVPlayerMonitor(player)
/// let content = instrument.add(PlayerTracker(monitor))
/// instrument.emit(.mediaRequest, from: content)   // when the person asks for the film
/// ```
///
/// `StreamLoad` when an item becomes current, `Start` when its clock moves, `BufferBegin` while the player waits for
/// data, `SeekBegin` when the clock jumps, `Next` when a queue advances, `End`, `Error`, and changes of quality and
/// sound. `Stop` is the app's to report: ``stop()``. A pause has its reason (`pauseReason`), a live stream its distance
/// from the edge (`liveLatency`) and what can be sought of it (`dvrWindow`).
///
/// Neither the monitor nor its observations keep the player alive; without it the monitor reports nothing more.
/// Everything may be called from any thread. Signals come on the main thread, one at a time, except those of the access
/// log.
///
/// Compiled against declarations of AVFoundation on Linux, with its logic tested there; not run on an Apple platform.
public final class AVPlayerMonitor: Player {
    /// Sent as `trackerTarget`.
    public let name: String
    private let watch: PlayerWatch<AVPlayerModel>
    private let clock: any SchedulingClock

    /// Creates a monitor that observes `player` while a tracker listens.
    ///
    /// - Parameters:
    ///   - player: the player, which is held weakly.
    ///   - name: what `trackerTarget` says.
    ///   - reportsRequests: also reports each request for a playlist, a segment or a key, as `RequestFinish`. A film
    ///     has thousands of them.
    ///   - clock: times what is observed; the instrument must have the same clock.
    public init(
        _ player: AVPlayer,
        name: String = "AVPlayer",
        reportsRequests: Bool = false,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.name, self.clock) = (name, clock)
        watch = PlayerWatch(AVPlayerAdapter(player, clock: clock, reportsRequests: reportsRequests))
    }

    /// The latest status of the player; the position is extrapolated to the moment of the call.
    public var status: PlayerStatus {
        let now = clock.now
        return watch.read { $0.status(at: now) }
    }

    /// The fields of `PrivacyCatalogue.avPlayer`.
    public var declaredFields: PrivacyCatalogue { .avPlayer }

    /// Reports signals to `observer`. What plays already is reported with `joinedLate`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { watch.report(to: observer) }

    /// Reports that the person stopped the playback. Playing the item again is a new playback.
    public func stop() {
        let now = clock.now
        watch.change { $0.stop(at: now) }
    }
}
#endif
