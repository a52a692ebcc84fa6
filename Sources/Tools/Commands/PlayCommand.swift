internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentProbe
internal import InstrumentTerminal

/// `player-monitor play`: plays one source or many, through the whole chain.
struct PlayCommand: AsyncParsableCommand {
    /// The speed of playback.
    enum Speed: String, ExpressibleByArgument, CaseIterable { case real, max }

    /// What plays.
    enum Engine: String, ExpressibleByArgument, CaseIterable { case probe, chrome }

    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play files and HTTP(S) URLs to their end, one or many at once.",
        discussion: """
            Examples:
              player-monitor play film.mp4
              player-monitor play --speed max --backend json https://example.org/film.mp4
              player-monitor play --profile exoplayer --abr bola \\
                  --requests requests.ndjson https://example.org/live.m3u8
              player-monitor play --ads 'https://ads.example.org/vmap?r=[CACHEBUSTING]' \\
                  https://example.org/film.m3u8
              player-monitor play --list streams.txt --duration 1m \\
                  --backend file:samples.ndjson.gz
              player-monitor play --backend console --backend file:samples.ndjson \\
                  --duration 1m film.mkv
              player-monitor play --player chrome --player-library hls.js \\
                  https://example.org/live.m3u8
              player-monitor play --player chrome --duration 1m https://example.org/watch
              SIFT=account:key player-monitor play \\
                  --backend sift:https://api3.siftscience.com \\
                  --credentials-from SIFT film.mkv
              LRS=user:password player-monitor play \\
                  --backend xapi:https://lrs.example.org/xapi \\
                  --credentials-from LRS film.mkv
            """
    )

    @Argument(
        help: """
            Paths or http(s) URLs of progressive media (MP4, MKV, WebM, TS, MP3, AAC, FLAC, …), and URLs of HLS playlists and \
            DASH manifests. Several sources play at the same time, in one process.
            """
    )
    var sources: [String] = []

    @Option(
        name: .customLong("player"),
        help: """
            What plays: 'probe' for the headless player of this program, or 'chrome' for an installed Chromium without a window, which \
            opens each source in a tab: the URL of a playlist, an MPD or a film in a separate page, or any web page that plays media.
            """
    )
    var engine = Engine.probe

    @OptionGroup var browser: BrowserOptions

    @Option(help: "File that lists further sources, one per line; '#' begins a comment; '-' reads standard input.")
    var list: String?

    @Option(
        help: """
            Speed of playback: 'real' for real time, 'max' for as fast as data can be read, in virtual time. With 'max', several \
            sources play one after another, and no event has a time in the future.
            """
    )
    var speed = Speed.real

    @OptionGroup var player: PlayerOptions

    @OptionGroup var access: AccessOptions

    @OptionGroup var ads: AdOptions

    @OptionGroup var delivery: DeliveryOptions

    @Option(help: "Title to report instead of the title in the media.")
    var title: String?

    @Option(
        help: ArgumentHelp("Stop each stream this long after its start.", valueName: "time")
    )
    var duration: DurationOption?

    @Option(help: ArgumentHelp("Delay between stream starts.", valueName: "time"))
    var spacing = DurationOption(.milliseconds(10))

    @Option(help: "File for a log of all playlist and segment requests, as one JSON object per line; times in ms.")
    var requests: String?

    @Option(
        help: ArgumentHelp("Time limit for opening a source and for each wait for data.", valueName: "time")
    )
    var timeout = DurationOption(.seconds(15))

    @Flag(name: .shortAndLong, help: "Print no progress and no summary.")
    var quiet = false

    func validate() throws {
        if sources.contains("") { throw ValidationError("a source must not be empty; give a path or a URL") }
        if sources.isEmpty, list == nil {
            throw ValidationError("nothing to play; give paths or URLs, or a list of them with --list")
        }
        if engine == .chrome { try browser.validate(self) } else { try browser.validateUnused() }
        if speed == .max, player.bandwidthLimit != nil {
            throw ValidationError(
                "--bandwidth-limit needs --speed real: with 'max', requests take no time of the playback, whatever their "
                    + "bandwidth is"
            )
        }
        try duration?.validatePositive("--duration")
        try timeout.validatePositive("--timeout")
        try spacing.validate("--spacing", in: .zero ... .seconds(3600))
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        if engine == .chrome { return try await browser.play(self, terminal) }
        var configuration = try player.configuration(title: title, timeout: timeout.duration)
        configuration.ads = try ads.configuration()
        try access.apply(to: &configuration)
        let played = try (sources + (list.map(SourceList.read) ?? [])).map { MediaSource($0) }
        if played.isEmpty { throw ValidationError("the list must name at least one source (found none)") }
        if player.bandwidthLimit != nil, let file = played.first(where: \.isFile) {
            throw ValidationError(
                "--bandwidth-limit limits the requests of HLS and DASH (found \(file)); leave the option or the source out"
            )
        }
        let log = try requests.map { try RequestLog(path: $0) }
        let store = try delivery.makeStore(terminal)
        var backends = try delivery.makeBackends(terminal)
        if let beacons = try ads.makeBackend(refusingPrivateAddresses: player.refusePrivateAddresses) {
            backends.append(beacons)
        }
        let samples: any SampleStore = store ?? InMemoryStore()
        let playback = Playback(
            options: self,
            configuration: configuration,
            sources: played,
            terminal: terminal,
            backends: backends,
            store: samples,
            requests: log
        )
        let status = await playback.run()
        store?.close()
        if log?.finish() == false { terminal.note("player-monitor: some requests could not be written to the log") }
        // Results that did not arrive come before everything else.
        try terminal.checkOutput()
        if status != .success { throw ExitCode(status.rawValue) }
    }

    /// Schedules what the viewer does with a probe that starts at `start`, and its stop.
    func schedule(_ probe: Probe, from start: MonotonicInstant, _ clock: any SchedulingClock) {
        func perform(after time: Duration, _ action: @escaping @Sendable (Probe) -> Void) {
            _ = clock.schedule(at: start.advanced(by: time)) { [weak probe] in probe.map(action) }
        }
        for viewer in player.viewer {
            switch viewer.action {
            case .seek(let target): perform(after: viewer.time) { $0.seek(to: target) }
            case .setRate(let rate): perform(after: viewer.time) { $0.setRate(rate) }
            case .pause(let length):
                perform(after: viewer.time) { $0.pause() }
                perform(after: viewer.time + length) { $0.resume() }
            }
        }
        if let duration { perform(after: duration.duration) { $0.stop() } }
    }
}
