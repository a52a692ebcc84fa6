internal import ArgumentParser
internal import Foundation
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

            Without a terminal, prints the table once. Keys: arrows choose, Enter opens, / filters by name, label, state and error,
            o changes the order, q quits. With a token whose role is 'act': a acknowledges the incident of the stream, t tries
            the stream now, s silences the stream for an hour.
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
            let person = ProcessInfo.processInfo.environment["USER"] ?? "top"
            let screen = WatchScreen(isColored: StandardOutput.isColored) { action in
                await Self.post(action.request(by: person), base, secret, transport)
            }
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

    /// Asks the monitor to do something; returns what went wrong, or nil.
    private static func post(
        _ action: (path: String, body: JSONValue),
        _ base: String,
        _ token: String?,
        _ transport: SystemTransport
    ) async -> String? {
        do throws(HTTPError) {
            var headers = HTTPHeaders()
            try headers.set("Content-Type", "application/json")
            if let token { try headers.set("Authorization", "Bearer " + token, isSecret: true) }
            let url = try HTTPURL(base + action.path)
            let request = HTTPRequest(.post, url, headers: headers, body: action.body.bytes, timeout: .seconds(10))
            let response = try await transport.send(request)
            if response.isSuccess { return nil }
            let words = String(decoding: response.body.prefix(300), as: UTF8.self)
            return words.isEmpty ? "status \(response.status)" : words
        } catch {
            return error.description
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

extension StreamTable.Action {
    /// The request that performs the action.
    fileprivate func request(by person: String) -> (path: String, body: JSONValue) {
        switch self {
        case .acknowledge(let incident, let note):
            (
                "/api/incidents/\(PercentCoding.encoded(incident))/acknowledge",
                ["by": .string(person), "for": "1h", "note": .string(note)]
            )
        case .tryNow(let stream): ("/api/try?name=" + PercentCoding.encoded(stream), [:])
        case .silence(let stream, let reason):
            (
                "/api/silences",
                [
                    "matchers": [["label": "stream", "value": .string(stream)]], "for": "1h", "by": .string(person),
                    "reason": .string(reason),
                ]
            )
        }
    }
}
