public import Instrument

#if canImport(CGStreamer)
/// A pipeline of GStreamer 1 in this process: `playbin`, `playbin3`, that of a `GstPlay` (`gst_play_get_pipeline`), or
/// any other with a bus.
///
/// ```swift
/// guard let pipeline = gst_parse_launch("playbin3 uri=https://example.com/master.m3u8", nil) else { return }
/// let player = GStreamerPlayer(pipeline)
/// instrument.add(PlayerTracker(player))
/// instrument.ready()
/// gst_element_set_state(pipeline, GST_STATE_PLAYING)
/// ```
///
/// `Start` and the ends of stalls are the instants since which pictures move: sinks say when each buffer is due.
/// `docs/players.md` has the errors. A pause while the buffers are not full is the app's wait for its buffers, a stall.
///
/// The app alone keeps its pipeline: the player refers to it weakly, and an app that gives the pipeline away first
/// harms nobody. Messages are taken by `sync-message`, on the thread that posts them, so that the app's bus watch and
/// its sync handler stay. A sync handler that drops messages drops them for the player, too.
///
/// Everything may be called from any thread. Signals come one at a time on a queue of the player's, where an observer
/// may use the pipeline.
public final class GStreamerPlayer: Player {
    /// Sent as `trackerTarget`.
    public let name: String
    private let watch: GStreamerWatch

    /// Creates a player that observes nothing before ``report(to:)``.
    ///
    /// - Parameters:
    ///   - element: the `GstElement`. The caller keeps it during this call; it is not retained.
    ///   - name: sent as `trackerTarget`.
    ///   - clock: times signals; give the instrument the same.
    ///   - report: receives notices about the observation, on a queue of the player's or the thread that begins to
    ///     observe.
    public init(
        _ element: UnsafeMutableRawPointer,
        name: String = "gstreamer",
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (GStreamerDiagnostic) -> Void = { _ in }
    ) {
        self.name = name
        watch = GStreamerWatch(GStreamerHandle(element), clock: clock, report: report)
    }

    deinit { watch.close() }

    /// The current status.
    public var status: PlayerStatus { watch.status }

    /// Dropped pictures, the code of errors and the rate.
    public var declaredFields: PrivacyCatalogue { .gstreamer }

    /// Reports signals to `observer`. Waits for no call of GStreamer's that runs.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { watch.listen(observer) }

    /// Ends the observation; signals end with the return.
    public func close() { watch.close() }

    /// Waits until everything that was observed has been reported. Not on the player's queue.
    package func settle() { watch.settle() }
}
#endif
