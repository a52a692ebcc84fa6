internal import ArgumentParser
internal import Instrument
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentMPV
internal import InstrumentTerminal

/// A running player to attach to, as given on the command line.
enum PlayerOption: Hashable {
    case mpv(socket: String)
    case chrome(address: String)

    /// Reads `mpv:SOCKET` or `chrome:PORT`, for the `transform` of an argument.
    @Sendable static func read(_ argument: String) throws -> PlayerOption {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("mpv", let socket?) where !socket.isEmpty: return .mpv(socket: socket)
        case ("chrome", let address?) where !address.isEmpty: return .chrome(address: address)
        default:
            throw ValidationError(
                "the player must be mpv:SOCKET, with the SOCKET of --input-ipc-server, as in mpv:mpv.sock, or chrome:PORT, with "
                    + "the PORT of --remote-debugging-port, as in chrome:9222 (found '\(argument)')"
            )
        }
    }
}

/// `player-monitor attach`: measures a running player from outside.
struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Measure a running player until it exits.",
        discussion: """
            Examples:
              mpv --input-ipc-server=mpv.sock film.mkv &
              player-monitor attach mpv:mpv.sock
              player-monitor attach --wait --queue queue --backend file:samples.ndjson \\
                  mpv:mpv.sock
              chromium --remote-debugging-port=9222 --user-data-dir=profile &
              player-monitor attach chrome:9222
            """
    )

    @Argument(
        help: """
            Player to attach to: 'mpv:SOCKET' for an mpv that runs with --input-ipc-server=SOCKET, or 'chrome:PORT' or 'chrome:HOST:PORT' \
            for a Chromium that runs with --remote-debugging-port=PORT, whose media elements are measured in all its tabs.
            """,
        transform: PlayerOption.read
    )
    var player: PlayerOption

    @OptionGroup var delivery: DeliveryOptions

    @Flag(help: "Wait until the player starts, and for the next one after it exits.")
    var wait = false

    @Flag(name: .shortAndLong, help: "Print no summary.")
    var quiet = false

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        switch player {
        case .mpv(let socket): try await measure(makePlayer(socket, terminal), terminal)
        case .chrome(let address):
            let configuration = ChromeConfiguration(waitsForBrowser: wait)
            try await BrowserRun(terminal: terminal, delivery: delivery, isQuiet: quiet).run { report in
                do throws(ChromeError) {
                    return try ChromeBrowser(at: address, configuration: configuration, report: report)
                } catch {
                    throw ValidationError(error.description)
                }
            }
        }
    }

    private func measure(_ player: MPVPlayer, _ terminal: Terminal) async throws {
        let chain = try MeasuringChain(delivery, terminal)
        defer { chain.close() }
        let tracker = chain.instrument.add(PlayerTracker(player))
        chain.begin { player.close() }
        player.connect()
        let progress = chain.showProgress { ProgressLine.text(of: player) }
        let ending = await player.waitUntilGone()
        progress?.cancel()
        await chain.finish()
        try report(ending, chain.summary.record(of: tracker), chain.watch, terminal)
    }

    private func makePlayer(_ socket: String, _ terminal: Terminal) throws -> MPVPlayer {
        do {
            return try MPVPlayer(socket: socket, configuration: MPVConfiguration(waitsForPlayer: wait)) {
                terminal.note("player-monitor: \($0)")
            }
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func report(
        _ ending: MPVEnding,
        _ record: PlaybackRecord,
        _ watch: DeliveryWatch,
        _ terminal: Terminal
    ) throws {
        if case .notThere(let reason) = ending {
            terminal.note(
                "player-monitor: cannot reach the player: \(reason); start the player, or wait for it with --wait"
            )
            _ = terminal.noteUndelivered(watch)
            throw ExitCode(ExitStatus.failed.rawValue)
        }
        if !quiet {
            let headline: TerminalText =
                ending == .closed ? "measured until stopped" : "measured until the player exited"
            for line in record.lines(headline: headline) { terminal.note(line) }
        }
        let isDelivered = terminal.noteUndelivered(watch)
        try terminal.checkOutput()
        if !isDelivered { throw ExitCode(ExitStatus.undelivered.rawValue) }
    }
}
