internal import ArgumentParser
internal import Instrument
internal import InstrumentDurableQueue
internal import InstrumentProbe
internal import InstrumentTerminal

/// `player-monitor play`: one playback or many through the whole chain.
struct PlayCommand: AsyncParsableCommand {
    /// How fast the media is played.
    enum Speed: String, ExpressibleByArgument, CaseIterable { case real, max }

    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Plays files and HTTP(S) addresses to their end, one or many at once.",
        discussion: """
            Examples:
              player-monitor play film.mp4
              player-monitor play --speed max --backend json https://example.org/film.mp4
              player-monitor play --profile exoplayer --abr bola --requests requests.ndjson https://example.org/live.m3u8
              player-monitor play --list streams.txt --duration 60 --backend file:samples.ndjson.gz
              player-monitor play --backend console --backend file:samples.ndjson --duration 60 film.mkv
              SIFT=account:key player-monitor play --backend sift:https://api3.siftscience.com --credentials-from SIFT film.mkv
              LRS=user:password player-monitor play --backend xapi:https://lrs.example.org/xapi --credentials-from LRS film.mkv
            """
    )

    @Argument(
        help: """
            Paths, or http or https URLs, of progressive media (MP4, MKV, WebM, TS, MP3, AAC, FLAC, …); URLs of HLS playlists \
            and DASH manifests. Several are played at once, in one process.
            """
    )
    var sources: [String] = []

    @Option(help: "Play what this file lists, too: one a line, '#' begins a comment; '-' is standard input.")
    var list: String?

    @Option(
        help: """
            'real' plays in real time; 'max' as fast as data can be read, in virtual time. Several are then played one after \
            another, and the session of files ends now. Of addresses, whose length is not known beforehand, no event has a \
            time in the future.
            """
    )
    var speed = Speed.real

    @OptionGroup var player: PlayerOptions

    @OptionGroup var delivery: DeliveryOptions

    @Option(help: "What is played, in place of the media's own title.")
    var title: String?

    @Option(help: "Stop after so many seconds, each stream since it was asked for.")
    var duration: Double?

    @Option(help: "Seconds between the starts of two of many streams.")
    var spacing: Double = 0.01

    @Option(help: "Write each request for playlists and segments as a line of JSON into this file; times in ms.")
    var requests: String?

    @Option(help: "Give up when opening, or a wait for data, takes this many seconds.")
    var timeout: Double = 15

    @Flag(name: .shortAndLong, help: "No progress and no summary.")
    var quiet = false

    func validate() throws {
        if sources.contains("") { throw ValidationError("SOURCE is empty; name a file or an address") }
        if sources.isEmpty, list == nil {
            throw ValidationError("nothing to play; name files or addresses, or a list of them with --list")
        }
        for (name, value) in [("duration", duration), ("timeout", timeout)] {
            if let value, !(value > 0 && value < 1e9) { throw ValidationError("--\(name) has to be a number above 0") }
        }
        guard (0...3600).contains(spacing) else { throw ValidationError("--spacing is 0 to 3600 seconds") }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        let configuration = try player.configuration(title: title, timeout: .seconds(timeout))
        let played = try (sources + (list.map(SourceList.read) ?? [])).map { MediaSource($0) }
        guard let first = played.first else { throw ValidationError("there is no source in the list") }
        let log = try requests.map { try RequestLog(path: $0) }
        let store = try delivery.makeStore(terminal)
        let backends = try delivery.makeBackends(terminal)
        let samples: any SampleStore = store ?? InMemoryStore()
        let status =
            played.count == 1
            ? await Playback(self, configuration, first, terminal, backends, samples, log).run()
            : await FleetPlayback(
                options: self,
                configuration: configuration,
                sources: played,
                terminal: terminal,
                backends: backends,
                store: samples,
                requests: log
            ).run()
        store?.close()
        if log?.finish() == false { terminal.note("player-monitor: not all requests could be written") }
        if status != .played { throw ExitCode(status.rawValue) }
    }

    /// Sees to it that a probe that starts at `start` jumps and stops when it is to.
    func schedule(_ probe: Probe, from start: MonotonicInstant, _ clock: any SchedulingClock) {
        for seek in player.seeks {
            _ = clock.schedule(at: start.advanced(by: seek.time)) { [weak probe] in probe?.seek(to: seek.target) }
        }
        guard let duration else { return }
        _ = clock.schedule(at: start.advanced(by: .seconds(duration))) { [weak probe] in probe?.stop() }
    }
}
