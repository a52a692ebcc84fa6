internal import ArgumentParser
internal import Instrument
internal import InstrumentDurableQueue

/// `player-monitor play`: one playback through the whole chain.
struct PlayCommand: AsyncParsableCommand {
    /// How fast the media is played.
    enum Speed: String, ExpressibleByArgument, CaseIterable { case real, max }

    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Plays a file or an HTTP(S) address to its end.",
        discussion: """
            Examples:
              player-monitor play film.mp4
              player-monitor play --speed max --backend json https://example.org/film.mp4
              player-monitor play --backend console --backend file:samples.ndjson --duration 60 film.mkv
              SIFT=account:key player-monitor play --backend sift:https://api3.siftscience.com --credentials-from SIFT film.mkv
              LRS=user:password player-monitor play --backend xapi:https://lrs.example.org/xapi --credentials-from LRS film.mkv
            """
    )

    @Argument(help: "A path, or an http or https URL, of progressive media (MP4, MKV, WebM, TS, MP3, AAC, FLAC, …).")
    var source: String

    @Option(
        help: """
            'real' plays in real time; 'max' as fast as data can be read, in virtual time. A file's session then ends now; one \
            of an address, whose length nobody says beforehand, begins now, and 'xapi' waits until its times have come.
            """
    )
    var speed = Speed.real

    @OptionGroup var delivery: DeliveryOptions

    @Option(help: "What is played, in place of the media's own title.")
    var title: String?

    @Option(help: "Stop after so many seconds.")
    var duration: Double?

    @Option(help: "Give up when opening, or a wait for data, takes this many seconds.")
    var timeout: Double = 15

    @Flag(name: .shortAndLong, help: "No progress and no summary.")
    var quiet = false

    func validate() throws {
        if source.isEmpty { throw ValidationError("SOURCE is empty; name a file or an address") }
        for (name, value) in [("duration", duration), ("timeout", timeout)] {
            if let value, !(value > 0 && value < 1e9) { throw ValidationError("--\(name) has to be a number above 0") }
        }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        let summary = Summary()
        let store = try delivery.makeStore(terminal)
        let backends = try delivery.makeBackends(terminal)
        let status = await Playback(self, terminal, summary, backends, store ?? InMemoryStore()).run()
        store?.close()
        if status != .played { throw ExitCode(status.rawValue) }
    }
}
