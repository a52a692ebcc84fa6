internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentHTTP
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

            Without a terminal, prints the table once. Keys: arrows choose, Enter opens, / filters by name, label, state and error, \
            o changes the order, q quits. With a token whose role is 'act': a acknowledges the incident of the stream, r gives \
            it back, x closes it, t tries the stream now, c checks it now, s silences it for an hour, m begins work on it for an \
            hour, u ends the silence or work that hides it.
            Exit codes: 0 success, 1 the monitor does not answer.
            """
    )

    @Argument(help: "Address of the monitor (--listen of watch).")
    var url = "http://127.0.0.1:9464"

    @OptionGroup var token: MonitorToken

    @Flag(help: "Print the table once, also on a terminal.")
    var plain = false

    func validate() throws {
        try MonitorClient.validate(url)
    }

    func run() async throws {
        let client = try MonitorClient(url, token: token)
        if !plain, FullScreen.isAvailable {
            let stop = Gate()
            StopSignals.report { stop.open() }
            let person = StreamTable.Action.person(orElse: "top")
            let screen = WatchScreen(isColored: StandardOutput.isColored) { action in
                let (path, body) = action.request(by: person)
                switch await client.send(body == nil ? .delete : .post, path, body) {
                case .success: return nil
                case .failure(let error): return error.reason
                }
            }
            return await screen.run(until: stop) { detail in
                let document = await client.get("/api/state")
                guard let detail else { return (document, nil) }
                return (document, try? await client.get("/api/stream?name=" + PercentCoding.encoded(detail)).get())
            }
        }
        let terminal = Terminal(isQuiet: true)
        switch await client.get("/api/state") {
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
}
