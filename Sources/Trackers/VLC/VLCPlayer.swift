public import Instrument

#if canImport(CVLC)
/// A media player of libVLC 3 in this process.
///
/// ```swift
/// guard let media = libvlc_media_new_location(vlc, "https://example.com/master.m3u8"),
///     let handle = libvlc_media_player_new_from_media(media)
/// else { return }
/// let player = VLCPlayer(handle, logsOf: vlc)
/// instrument.add(PlayerTracker(player))
/// instrument.ready()
/// libvlc_media_player_play(handle)
/// ```
///
/// `Start` is the instant since which pictures move, not that of the first picture, which libVLC shows while it still
/// fills its buffers. Starts, stalls and ends of stalls are computed from libVLC's counters and reported up to 0.8 s
/// later, with the instant at which they happened; `docs/players.md` has their errors. A seek begins when the app asks
/// for it. An input that ends more than 3 s before its length is an `Error` with `isFatal`: libVLC ends a stream whose
/// segments fail as it ends a film.
///
/// The player keeps the handle until ``close()``, or until its own end. Everything may be called from any thread, also
/// in libVLC's callbacks. Signals come one at a time on a queue of the player's, where an observer may call libVLC.
public final class VLCPlayer: Player {
    /// Sent as `trackerTarget`.
    public let name: String
    private let watch: VLCWatch

    /// Creates a player that observes nothing before ``report(to:)``.
    ///
    /// - Parameters:
    ///   - player: the `libvlc_media_player_t`. It is retained.
    ///   - instance: the `libvlc_instance_t` whose error messages become descriptions of errors, those of all its
    ///     players. The tracker then is the only handler of the instance's log (`libvlc_log_set`); without an instance,
    ///     errors have no cause.
    ///   - name: sent as `trackerTarget`.
    ///   - clock: times signals; give the instrument the same.
    ///   - report: receives notices about the observation, on a queue of the player's or a thread of libVLC's.
    public init(
        _ player: OpaquePointer,
        logsOf instance: OpaquePointer? = nil,
        name: String = "vlc",
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (VLCDiagnostic) -> Void = { _ in }
    ) {
        self.name = name
        watch = VLCWatch(VLCHandle(player, logsOf: instance), clock: clock, report: report)
    }

    deinit { watch.close() }

    /// The current status, as libVLC last reported it.
    public var status: PlayerStatus { watch.status }

    /// The code of errors.
    public var declaredFields: PrivacyCatalogue { .vlc }

    /// Reports signals to `observer`. Returns at once: a call of libVLC's that runs is never waited for.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { watch.listen(observer) }

    /// Ends the observation and gives the handle back. Returns at once; signals end with the return, and the handle is
    /// given back on the player's queue.
    public func close() { watch.close() }

    /// Waits until the observation that was asked for has begun or ended. Not on the player's queue.
    package func settle() { watch.settle() }
}
#endif
