internal import ArgumentParser
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentMPV
internal import InstrumentTerminal
internal import InstrumentVLCRemote

/// A running player to attach to, as given on the command line.
enum PlayerOption: Hashable {
    case mpv(socket: String)
    case chrome(address: String)
    case vlc(address: String)

    /// Reads `mpv:SOCKET`, `chrome:PORT` or `vlc:PORT`, for the `transform` of an argument.
    @Sendable static func read(_ argument: String) throws -> PlayerOption {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("mpv", let socket?) where !socket.isEmpty: return .mpv(socket: socket)
        case ("chrome", let address?) where !address.isEmpty: return .chrome(address: address)
        case ("vlc", let address?) where !address.isEmpty: return .vlc(address: address)
        default:
            throw ValidationError(
                "the player must be mpv:SOCKET, with the SOCKET of --input-ipc-server, as in mpv:mpv.sock, chrome:PORT, with the "
                    + "PORT of --remote-debugging-port, as in chrome:9222, or vlc:PORT, with the PORT of --http-port, as in "
                    + "vlc:8080 (found '\(argument)')"
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
              vlc --extraintf http --http-host 127.0.0.1 --http-password secret film.mkv &
              VLC=secret player-monitor attach --password-from VLC vlc:8080
            """
    )

    @Argument(
        help: """
            Player to attach to: 'mpv:SOCKET' for an mpv that runs with --input-ipc-server=SOCKET; 'chrome:PORT' or 'chrome:HOST:PORT' \
            for a Chromium that runs with --remote-debugging-port=PORT, whose media elements are measured in all its tabs; 'vlc:PORT' \
            or 'vlc:HOST:PORT' for a VLC that runs with --extraintf http.
            """,
        transform: PlayerOption.read
    )
    var player: PlayerOption

    @Option(
        help: ArgumentHelp(
            "Where the password of VLC (--http-password) is: the name of an environment variable, or 'file:PATH'.",
            valueName: "variable-or-file"
        )
    )
    var passwordFrom: String?

    @OptionGroup var delivery: DeliveryOptions

    @Flag(help: "Wait until the player starts, and for the next one after it exits.")
    var wait = false

    @Flag(name: .shortAndLong, help: "Print no summary.")
    var quiet = false

    func validate() throws {
        if case .vlc = player {
            if passwordFrom == nil {
                throw ValidationError(
                    "a VLC lets nobody in without its password; give the option --password-from, as in --password-from VLC"
                )
            }
        } else if passwordFrom != nil {
            throw ValidationError("--password-from must be given together with vlc:PORT")
        }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        switch player {
        case .mpv(let socket):
            let player = try makePlayer(socket, terminal)
            try await measure(player, terminal, progress: { ProgressLine.text(of: player) }) {
                player.connect()
            } close: {
                player.close()
            } ending: {
                Ending(await player.waitUntilGone())
            }
        case .vlc(let address):
            let player = try makeRemote(address, terminal)
            try await measure(player, terminal, progress: { ProgressLine.text(of: player) }) {
                player.connect()
            } close: {
                player.close()
            } ending: {
                Ending(await player.waitUntilGone())
            }
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

    /// How the measurement of a player ended.
    private enum Ending: Hashable {
        case notThere(reason: String)
        case closed
        case gone

        init(_ ending: MPVEnding) {
            self =
                switch ending {
                case .notThere(let reason): .notThere(reason: reason)
                case .closed: .closed
                case .playerWentAway: .gone
                }
        }

        init(_ ending: VLCRemoteEnding) {
            self =
                switch ending {
                case .notThere(let reason): .notThere(reason: reason)
                case .closed: .closed
                case .playerWentAway: .gone
                }
        }
    }

    private func measure(
        _ player: any Player,
        _ terminal: Terminal,
        progress: @escaping @Sendable () -> TerminalText,
        connect: () -> Void,
        close: @escaping @Sendable () -> Void,
        ending: () async -> Ending
    ) async throws {
        let chain = try MeasuringChain(delivery, terminal)
        defer { chain.close() }
        let tracker = chain.instrument.add(PlayerTracker(player))
        chain.begin(stoppingWith: close)
        connect()
        let shown = chain.showProgress(progress)
        let end = await ending()
        shown?.cancel()
        await chain.finish()
        try report(end, chain.summary.record(of: tracker), chain.watch, terminal)
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

    private func makeRemote(_ address: String, _ terminal: Terminal) throws -> VLCRemotePlayer {
        let source = SecretReference(argument: passwordFrom ?? "")
        let form = "the password of VLC"
        let credentials = BackendCredentials(source, namedBy: "--password-from", form: form)
        let password: String
        do throws(BackendKindError) { password = try credentials.secret() } catch {
            throw ValidationError(error.description)
        }
        let configuration = VLCRemoteConfiguration(waitsForPlayer: wait)
        do throws(VLCRemoteError) {
            return try VLCRemotePlayer(at: address, password: password, configuration: configuration) {
                terminal.note("player-monitor: \($0)")
            }
        } catch {
            throw ValidationError(error.description)
        }
    }

    private func report(
        _ ending: Ending,
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
