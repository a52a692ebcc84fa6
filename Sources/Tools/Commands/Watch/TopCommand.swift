internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentMonitor
internal import InstrumentTerminal
internal import InstrumentTransport

/// `player-monitor top`: shows a running monitor in the terminal.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the streams of a running monitor in the terminal.",
        discussion: """
            Examples:
              player-monitor top
              player-monitor top http://127.0.0.1:9465
              player-monitor top --token-from MONITOR_TOKEN http://192.0.2.7:9464

            Without a terminal, prints the table once. Keys: arrows choose, Enter opens, / filters, s sorts, q quits.
            Exit codes: 0 success, 1 the monitor does not answer.
            """
    )

    @Argument(help: "Address of the monitor (--listen of watch).")
    var url = "http://127.0.0.1:9464"

    @Option(
        name: .customLong("token-from"),
        help: ArgumentHelp(
            "Source of the monitor's token: the name of an environment variable, or 'file:PATH'.",
            valueName: "variable-or-file"
        )
    )
    var token: CredentialsOption?

    @Flag(help: "Print the table once, also on a terminal.")
    var plain = false

    func validate() throws {
        let address = try Address.read(url, of: "the address of the monitor")
        guard address.path == "/" || address.path.isEmpty else {
            throw ValidationError("the address of the monitor must have no path (found '\(url)')")
        }
    }

    func run() async throws {
        let transport = try SystemTransport.ofProgram()
        let secret = try token?.secret(namedBy: "--token-from", form: "the token of the monitor")
        let base = try HTTPURL(url).origin
        let fetch: @Sendable (String) async -> Result<JSONValue, HTTPError> = { path in
            await Self.fetch(base + path, secret, transport)
        }
        if !plain, FullScreen.isAvailable {
            let stop = Gate()
            StopSignals.report { stop.open() }
            let screen = WatchScreen(isColored: StandardOutput.isColored)
            return await screen.run(until: stop) { detail in
                let document = try? await fetch("/api/state").get()
                guard let detail else { return (document, nil) }
                return (document, try? await fetch("/api/stream?name=" + PercentCoding.encoded(detail)).get())
            }
        }
        let terminal = Terminal(isQuiet: true)
        switch await fetch("/api/state") {
        case .failure(let error):
            terminal.note("player-monitor: \(error)")
            throw ExitCode(ExitStatus.failed.rawValue)
        case .success(let document):
            var table = StreamTable(isColored: false, hasSelection: false)
            table.take(document)
            for line in table.lines(columns: 200, rows: table.rows.count + 8).dropLast() where !line.isEmpty {
                try terminal.output(line + "\n")
            }
        }
    }

    private static func fetch(
        _ address: String,
        _ token: String?,
        _ transport: SystemTransport
    ) async -> Result<JSONValue, HTTPError> {
        do throws(HTTPError) {
            var headers = HTTPHeaders()
            if let token { try headers.set("Authorization", "Bearer " + token, isSecret: true) }
            let request = HTTPRequest(
                .get,
                try HTTPURL(address),
                headers: headers,
                timeout: .seconds(10),
                maxResponseBytes: 256 << 20
            )
            let response = try await transport.send(request)
            guard response.isSuccess, let json = try? JSONValue(parsing: response.body) else {
                return .failure(
                    HTTPError(.malformedResponse, "expected the state of a monitor (found status \(response.status))")
                )
            }
            return .success(json)
        } catch {
            return .failure(error)
        }
    }
}
