public import Instrument
public import InstrumentMPV

#if canImport(CMPV)
/// A libmpv in this process, observed through a client beside the app's.
///
/// ```swift
/// guard let mpv = mpv_create(), mpv_initialize(mpv) >= 0 else { return }
/// let player = LibMPVPlayer(mpv)
/// instrument.add(PlayerTracker(player))
/// instrument.ready()
/// mpv_command_string(mpv, "loadfile https://example.com/master.m3u8")
/// ```
///
/// Signals and their instants are those of `MPVPlayer`, which watches an mpv in another process: both have one model.
///
/// The client is weak (`mpv_create_weak_client`): it keeps no player alive, and it ends when the app destroys its own
/// handle. The app's events, properties and wake-up callback stay the app's.
///
/// Everything may be called from any thread. Signals come one at a time on a queue of the player's, where an observer
/// may call libmpv, but must not destroy the app's handle: libmpv waits for all clients.
public final class LibMPVPlayer: Player {
    /// Sent as `trackerTarget`.
    public let name: String
    private let watch: LibMPVWatch

    /// Creates a player that reports nothing before ``report(to:)``.
    ///
    /// - Parameters:
    ///   - handle: the app's `mpv_handle`, initialized or not. It is used during this call alone.
    ///   - name: sent as `trackerTarget`.
    ///   - clock: times signals; give the instrument the same.
    ///   - report: receives notices about the observation, on a queue of the player's.
    public init(
        _ handle: OpaquePointer,
        name: String = "mpv",
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (MPVDiagnostic) -> Void = { _ in }
    ) {
        self.name = name
        watch = LibMPVWatch(LibMPVHandle(handle), clock: clock, report: report)
    }

    deinit { watch.close() }

    /// The current status, as mpv last reported it.
    public var status: PlayerStatus { watch.status }

    /// Reports signals to `observer`. Returns at once.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { watch.listen(observer) }

    /// Ends the observation and destroys the client, on the player's queue. Returns at once.
    public func close() { watch.close() }

    /// Waits until everything that was asked for has happened. Not on the player's queue.
    package func settle() { watch.settle() }
}
#endif
