public import Instrument
public import InstrumentTrackers
public import InstrumentTransport

/// A headless player: fetches and demuxes media like a player, without decoding it, and reports what a viewer would have
/// lived through.
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
    /// What the probe plays.
    public let source: MediaSource

    /// Creates a player for one playback of `source`, or as many as the configuration says.
    ///
    /// - Parameters:
    ///   - source: a file or an HTTP(S) address of progressive media, or the HTTP(S) address of an HLS playlist or a DASH
    ///     manifest, which is known by the ending of its path (`.m3u8`, `.mpd`). One whose path does not say so is
    ///     recognised when it has come, and fetched a second time.
    ///   - configuration: how it plays.
    ///   - clock: what it plays by; give the instrument the same. With a `VirtualClock` use ``playThrough(advancing:)``.
    ///   - transport: what it fetches playlists and segments with. Share one among probes: it has one thread for all. One
    ///     that is given has to refuse private addresses itself, if that is wanted.
    ///   - random: spreads retries, where the profile does.
    public init(
        _ source: MediaSource,
        configuration: ProbeConfiguration = ProbeConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        transport: (any HTTPTransport)? = nil,
        random: RandomSource = RandomSource()
    ) {
        self.source = source
        let make: RelayEngine.Maker = { isStream in
            let engine: any PlaybackEngine =
                isStream
                ? StreamEngine(
                    source: source,
                    configuration: configuration,
                    fetcher: TransportFetcher(transport: transport ?? SharedTransport.of(configuration), clock: clock),
                    clock: clock,
                    random: random
                ) : ProbeEngine(source: source, configuration: configuration, clock: clock)
            if configuration.startPosition > .zero {
                engine.perform(.seek(to: configuration.startPosition.nanoseconds))
            }
            return engine
        }
        let mayBeStream = source.isRemote && !source.isStream
        engine =
            mayBeStream || configuration.playCount != 1
            ? RelayEngine(
                isStream: source.isStream,
                mayBeStream: mayBeStream,
                playCount: configuration.playCount,
                make: make
            )
            : make(source.isStream)
    }

    /// Plays by an engine that was made elsewhere.
    init(_ source: MediaSource, engine: any PlaybackEngine) {
        self.source = source
        self.engine = engine
    }

    deinit { engine.perform(.stop) }

    /// Sent as `trackerTarget`.
    public var name: String { "probe" }
    /// What kind of error it was, and what was done when it failed.
    public var declaredFields: PrivacyCatalogue { .probe }
    /// What is true now.
    public var status: PlayerStatus { engine.status }
    /// How far the playback is.
    public var progress: ProbeProgress { engine.progress }
    /// How the playback ended; nil as long as it has not.
    public var outcome: ProbeOutcome? { engine.outcome }

    /// Reports each request for a playlist, a segment and what they need, when it has ended, to `observer`, which must not
    /// hold it up; nil reports to nobody. Progressive media reports none.
    public func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {
        engine.report(requestsTo: observer)
    }

    /// Reports signals to `observer`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { engine.report(to: observer) }

    /// Begins to load and play; returns at once. A second call does nothing.
    public func play() { engine.perform(.play) }

    /// Plays as fast as data can be read: reading takes no time on `clock`, which has to be the probe's own, and is
    /// advanced through the session. Returns on the caller's thread when the playback is over.
    ///
    /// - Returns: the outcome; nil if the playback is paused and nothing on the clock resumes it within a day.
    public func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? { engine.playThrough(advancing: clock) }

    /// Waits until the playback has ended and its last signal was delivered.
    ///
    /// - Returns: the outcome; nil if the current task is cancelled before. The playback then continues: call ``stop()`` to
    ///   end it.
    public func waitUntilFinished() async -> ProbeOutcome? { await engine.waitUntilFinished() }

    /// Pauses. Before the start, playback will wait for ``resume()`` with a full buffer.
    public func pause() { engine.perform(.pause) }

    /// Goes on after a pause.
    public func resume() { engine.perform(.resume) }

    /// Jumps to a position; one beyond either end is brought to it. Before the start it chooses where to start; after the
    /// end it does nothing. What is buffered is used, the rest is fetched anew from the keyframe before.
    public func seek(to position: Duration) { engine.perform(.seek(to: position.nanoseconds)) }

    /// Plays faster or slower; 1 is the normal rate. A rate that is not finite or not above zero is ignored.
    public func setRate(_ rate: Double) { engine.perform(.setRate(rate)) }

    /// Stops for good.
    public func stop() { engine.perform(.stop) }
}
