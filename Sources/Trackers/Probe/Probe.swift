public import Instrument
public import InstrumentTransport

/// A headless player: fetches and demuxes media without decoding it, and reports the viewing experience: startup time,
/// stalls, quality changes, seeks, errors and the end.
///
/// ```swift
/// let probe = Probe(MediaSource("https://example.org/film.mp4"))
/// let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [ConsoleBackend.standardOutput()])
/// instrument.add(PlayerTracker(probe))
/// instrument.ready()
/// probe.play()
/// let outcome = await probe.waitUntilFinished()
/// await instrument.shutdown(timeout: .seconds(5))
/// ```
///
/// Everything may be called from any thread. A probe that is released stops.
public final class Probe: Player {
    private let engine: any PlaybackEngine
    /// The source that the probe plays.
    public let source: MediaSource
    /// The ads of the playback; nil unless the configuration has ads.
    public let ads: ProbeAds?

    /// Creates a player for one playback of `source`, or as many as the configuration says.
    ///
    /// - Parameters:
    ///   - source: a file or an HTTP(S) address of progressive media, or the HTTP(S) address of an HLS playlist or a
    ///     DASH manifest. The probe knows streams by the ending of the path (`.m3u8`, `.mpd`). It recognises other
    ///     playlists by their first bytes, and fetches them a second time.
    ///   - configuration: how the probe plays.
    ///   - clock: the clock of the playback; give the instrument the same. With a `VirtualClock` use
    ///     ``playThrough(advancing:)``.
    ///   - transport: fetches playlists and segments. Share one transport among probes: it has one thread for all of
    ///     them. A transport that you pass has to refuse private addresses itself where the configuration forbids them.
    ///   - randomness: spreads retries, where the profile asks for it.
    public init(
        _ source: MediaSource,
        configuration: ProbeConfiguration = ProbeConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        transport: (any HTTPTransport)? = nil,
        randomness: RandomSource = RandomSource()
    ) {
        self.source = source
        let transport = transport ?? SharedTransport.of(configuration)
        let make = EngineMaker(transport: transport, clock: clock, randomness: randomness)
        guard let wanted = configuration.ads else {
            ads = nil
            engine = make.engine(for: source, configuration)
            return
        }
        let ads = ProbeAds()
        self.ads = ads
        var single = configuration
        single.playCount = 1
        let play: RelayEngine.Maker = { [single] _ in AdEngine(source, single, wanted, make, reportingTo: ads) }
        engine =
            configuration.playCount == 1
            ? play(true)
            : RelayEngine(isStream: true, mayBeStream: false, playCount: configuration.playCount, make: play)
    }

    /// Creates a probe around an engine.
    init(_ source: MediaSource, engine: any PlaybackEngine) {
        self.source = source
        self.engine = engine
        ads = nil
    }

    deinit { engine.perform(.stop) }

    /// Sent as `trackerTarget`.
    public var name: String { "probe" }
    /// The attributes that the probe adds to the vocabulary, for example an error's code and phase.
    public var declaredFields: PrivacyCatalogue { .probe }
    /// The present values of the playback: position, resolution, bitrate and others.
    public var status: PlayerStatus { engine.status }
    /// The state and the position of the playback.
    public var progress: ProbeProgress { engine.progress }
    /// How the playback ended; nil before its end.
    public var outcome: ProbeOutcome? { engine.outcome }

    /// Reports each request of a stream (for playlists, segments, initialization sections and keys) to `observer` when
    /// the request has ended. The observer must not block; nil ends the reports. Progressive media reports no requests.
    public func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {
        engine.report(requestsTo: observer)
    }

    /// Reports signals to `observer`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { engine.report(to: observer) }

    /// Starts to load and play; returns at once. A second call does nothing.
    public func play() { engine.perform(.play) }

    /// Plays as fast as data can be read: reading takes no time on `clock`, which must be the probe's own clock and
    /// which this method advances through the session. Blocks the caller's thread until the playback has ended.
    ///
    /// - Returns: the outcome; nil if the playback is paused and nothing on the clock resumes it within a day, or if
    ///   the current task is cancelled before the end. Call ``stop()`` to end a playback that has no outcome.
    public func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? { engine.playThrough(advancing: clock) }

    /// Waits until the playback has ended and its last signal was delivered.
    ///
    /// - Returns: the outcome; nil if the current task is cancelled before. The playback then continues: call
    ///   ``stop()`` to end it.
    public func waitUntilFinished() async -> ProbeOutcome? { await engine.waitUntilFinished() }

    /// Pauses. Before the start, playback fills the buffer and waits for ``resume()``.
    public func pause() { engine.perform(.pause) }

    /// Continues after a pause.
    public func resume() { engine.perform(.resume) }

    /// Moves the playhead to a position inside the media; a position beyond either end counts as that end. Before the
    /// start, this chooses where to start; after the end, it does nothing. Buffered media is used; other media is
    /// fetched from the keyframe before the position.
    public func seek(to position: Duration) { engine.perform(.seek(to: position.nanoseconds)) }

    /// Sets the playback rate; 1 is the normal rate. A rate that is not finite or not above zero is ignored.
    public func setRate(_ rate: Double) { engine.perform(.setRate(rate)) }

    /// Ends the playback; a probe does not play again after that.
    public func stop() { engine.perform(.stop) }
}
