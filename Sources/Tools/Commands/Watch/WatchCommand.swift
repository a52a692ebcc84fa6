internal import ArgumentParser
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentMonitorRuntime
internal import InstrumentProbe
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentWatch

/// `player-monitor watch`: watches streams until the process is stopped.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch streams without end: play them, check them, serve metrics and a dashboard, send alerts.",
        discussion: """
            Examples:
              player-monitor watch --check monitor.yaml
              player-monitor watch --test-message ops monitor.yaml
              player-monitor watch --listen 127.0.0.1:9464 \\
                  --state /var/lib/player-monitor monitor.yaml
              player-monitor watch --shard 2/5 --listen 127.0.0.1:9465 monitor.yaml
              MONITOR_TOKEN=… player-monitor watch --listen 192.0.2.7:9464 \\
                  --token-from MONITOR_TOKEN monitor.yaml

            --listen serves the dashboard (/), metrics for Prometheus (/metrics), the state of the process (/healthz) and single
            probes (/probe?target=NAME). An address that is not a loopback address needs --token-from.

            SIGHUP, or a change of FILE, reads the configuration again: streams that did not change play on, and a configuration
            with problems changes nothing. SIGTERM and Ctrl-C stop the sessions and deliver the queued samples.

            Exit codes: 0 stopped, 1 the configuration has problems or the address of --listen cannot be used, 2 wrong arguments, \
            3 stopped, but some samples were not delivered.
            """
    )

    @Argument(help: "YAML file of the configuration.")
    var file: String

    @Flag(help: "Validate the configuration and exit; exit code 1 if it has problems.")
    var check = false

    @Option(
        help: ArgumentHelp(
            """
            Send a test message to a receiver of `notify`, print the answer of the service, and exit; exit code 1 if the \
            service did not accept the message.
            """,
            valueName: "receiver"
        )
    )
    var testMessage: String?

    @Option(help: ArgumentHelp("Part of the streams, as NUMBER/COUNT.", valueName: "number/count"))
    var shard: String?

    @Option(help: ArgumentHelp("Address and port to serve; port 0 takes a free port.", valueName: "host:port"))
    var listen: String?

    @Option(
        name: .customLong("token-from"),
        help: ArgumentHelp(
            "Source of the token that clients must send: the name of an environment variable, or 'file:PATH'.",
            valueName: "variable-or-file"
        )
    )
    var token: CredentialsOption?

    @Option(
        help: """
            Directory for what survives a restart: queued samples and messages, and the states of alerts. Without it, they are \
            lost with the process. Processes with different shards may share a directory.
            """
    )
    var state: String?

    @Flag(help: "Print the messages of alerts instead of sending them.")
    var dryRun = false

    @Flag(help: "Print lines instead of a table, also on a terminal.")
    var plain = false

    @Option(help: "Number of sessions that play at the same time; further ones wait.")
    var maxSessions = 20_000

    @Flag(help: "Refuse to fetch from loopback, private and other special addresses: for lists of unknown origin.")
    var refusePrivateAddresses = false

    @OptionGroup var access: AccessOptions

    func validate() throws {
        if testMessage != nil, check { throw ValidationError("--test-message and --check must not stand together") }
        if let shard, Shard(shard) == nil {
            throw ValidationError(
                "--shard must be NUMBER/COUNT such as 2/5, with NUMBER from 1 to COUNT (found '\(shard)')"
            )
        }
        guard (1...1_000_000).contains(maxSessions) else {
            throw ValidationError("--max-sessions must be between 1 and 1000000 (found \(maxSessions))")
        }
        if let listen {
            guard let address = HostPort(listening: listen) else {
                throw ValidationError(
                    "--listen must be HOST:PORT such as 127.0.0.1:9464 or [::1]:9464 (found '\(listen)')"
                )
            }
            if !ServerConfiguration.isLoopback(address.host), token == nil {
                throw ValidationError(
                    "--listen on an address that is not a loopback address needs --token-from (found '\(listen)')"
                )
            }
        } else if token != nil {
            throw ValidationError("--token-from needs --listen")
        }
    }

    func run() async throws {
        let (result, sources) = read(kinds: .current)
        if let testMessage {
            let terminal = Terminal(isQuiet: true)
            let configuration = try result.get(orReport: terminal, toStandardError: true)
            let factory = try WatchRun.factory(self, terminal, SampleRoutes())
            return try await TestMessage(to: testMessage, of: configuration, factory).run(SystemClock(), terminal)
        }
        guard check else {
            let configuration = try result.get(orReport: Terminal(isQuiet: true), toStandardError: true)
            return try await WatchRun(self, configuration, from: sources).run()
        }
        let terminal = Terminal(isQuiet: true)
        try terminal.output(summary(of: try result.get(orReport: terminal, toStandardError: false)))
    }

    /// Reads the configuration, all streams of it.
    ///
    /// - Parameter kinds: the kinds of backends. A signal, which reads the configuration again, has no task, and so not
    ///   the kinds of the task.
    func read(
        kinds: BackendKinds
    ) -> (result: Result<WatchConfiguration, ConfigurationError>, sources: ConfigurationSources) {
        WatchConfiguration.read(contentsOf: file, kinds: kinds, profiles: Set(PlayerProfile.named.map(\.name)))
    }

    /// The part of a configuration that this process watches.
    func part(of configuration: WatchConfiguration) -> WatchConfiguration {
        shard.flatMap { Shard($0) }.map { configuration.shard($0) } ?? configuration
    }

    private func summary(of configuration: WatchConfiguration) -> TerminalText {
        let all = String(counting: configuration.streams.count, "stream")
        let streams = shard == nil ? all : "\(part(of: configuration).streams.count) of \(all)"
        let parts = [
            streams, String(counting: configuration.backends.count, "backend"),
            String(counting: configuration.alerts.count, "alert"),
            String(counting: configuration.receivers.count, "receiver"),
        ]
        return "\(parts.joined(separator: ", "))\n"
    }
}

extension Result<WatchConfiguration, ConfigurationError> {
    /// The configuration; prints the problems and exits with code 1 without one.
    func get(orReport terminal: Terminal, toStandardError: Bool) throws -> WatchConfiguration {
        switch self {
        case .success(let configuration): return configuration
        case .failure(let error):
            for line in error.lines {
                if toStandardError { terminal.note(line) } else { try terminal.output(line + "\n") }
            }
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }
}

extension ConfigurationError {
    /// The problems as lines.
    var lines: [TerminalText] {
        problems.map { "\($0)" } + (omittedCount > 0 ? ["\(omittedCount) further problems are left out."] : [])
    }
}

extension HostPort {
    /// Reads an address to listen at, which names its port; 0 is any free port.
    init?(listening text: String) { self.init(text, defaultPort: nil, ports: 0...UInt16.max) }
}
