internal import ArgumentParser
internal import Instrument
internal import InstrumentDurableQueue
internal import InstrumentMPV
internal import InstrumentTerminal

/// A player that can be attached to, as it is written on the command line.
enum PlayerOption: ExpressibleByArgument, Hashable {
    case mpv(socket: String)

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.first == "mpv", let socket = parts.dropFirst().first, !socket.isEmpty else { return nil }
        self = .mpv(socket: socket)
    }
}

/// `player-monitor attach`: a running player, watched from outside.
struct AttachCommand: AsyncParsableCommand {
    /// How long the end may take to deliver what is left.
    private static var shutdownTimeout: Duration { .seconds(10) }

    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Watches a running player until it goes away.",
        discussion: """
            Examples:
              mpv --input-ipc-server=mpv.sock film.mkv &
              player-monitor attach mpv:mpv.sock
              player-monitor attach --wait --queue queue --backend file:samples.ndjson mpv:mpv.sock
            """
    )

    @Argument(help: "The player: 'mpv:SOCKET', where mpv runs with --input-ipc-server=SOCKET.")
    var player: PlayerOption

    @OptionGroup var delivery: DeliveryOptions

    @Flag(help: "Wait for the player if it is not there yet, and for the next one when it has gone.")
    var wait = false

    @Flag(name: .shortAndLong, help: "No summary.")
    var quiet = false

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        let player = try makePlayer(terminal)
        let durable = try delivery.makeStore(terminal)
        let backends = try delivery.makeBackends(terminal)
        let summary = Summary()
        let store: any SampleStore = durable ?? InMemoryStore()
        let system = SystemClock()
        let watch = DeliveryWatch(backends, in: store, queue: delivery.queue)
        let instrument = Instrument(
            to: backends,
            summedUpBy: summary,
            store: store,
            clock: system,
            deliveringBy: system,
            terminal: terminal,
            watch: watch
        )
        let ending = await follow(player, instrument, terminal)
        store.forget(summary.name)
        defer { durable?.close() }
        try report(ending, summary, watch, terminal)
    }

    private func makePlayer(_ terminal: Terminal) throws -> MPVPlayer {
        switch player {
        case .mpv(let socket):
            do {
                return try MPVPlayer(socket: socket, configuration: MPVConfiguration(waitsForPlayer: wait)) {
                    terminal.note("player-monitor: \($0)")
                }
            } catch {
                throw ValidationError(error.description)
            }
        }
    }

    private func follow(_ player: MPVPlayer, _ instrument: Instrument, _ terminal: Terminal) async -> MPVEnding {
        instrument.add(PlayerTracker(player))
        instrument.ready()
        StopSignals.report { player.close() }
        terminal.whenOutputCloses { player.close() }
        player.connect()
        let progress = showProgress(of: player, terminal)
        let ending = await player.waitUntilGone()
        progress?.cancel()
        terminal.show(progress: "")
        await instrument.shutdown(timeout: Self.shutdownTimeout)
        return ending
    }

    private func showProgress(of player: MPVPlayer, _ terminal: Terminal) -> Task<Void, Never>? {
        guard terminal.canShowProgress else { return nil }
        return Task {
            while !Task.isCancelled {
                terminal.show(progress: ProgressLine.text(of: player))
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private func report(
        _ ending: MPVEnding,
        _ summary: Summary,
        _ watch: DeliveryWatch,
        _ terminal: Terminal
    ) throws {
        if case .notThere(let reason) = ending {
            terminal.note("player-monitor: no player there: \(reason); start one, or wait for it with --wait")
            _ = terminal.noteUndelivered(watch)
            throw ExitCode(ExitStatus.failed.rawValue)
        }
        if !quiet {
            let headline: TerminalText =
                ending == .closed ? "watched until stopped" : "watched until the player went away"
            for line in summary.lines(headline: headline) { terminal.note(line) }
        }
        if !terminal.noteUndelivered(watch) { throw ExitCode(ExitStatus.undelivered.rawValue) }
    }
}
