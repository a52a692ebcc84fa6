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
              player-monitor watch --from kafka:kafka.example.org:9092/samples \\
                  --listen 127.0.0.1:9464 --state /var/lib/player-monitor alerts.yaml

            --listen serves the dashboard (/), metrics for Prometheus (/metrics), the state of the process (/healthz) and single \
            probes (/probe?target=NAME). An address that is not a loopback address needs --token-from, or tokens in the \
            configuration (`access`). `player-monitor incidents` acknowledges and silences what the monitor finds.

            --from plays nothing: it reads what monitors in several places write (each a `watch` with a location and a backend), \
            and shows the streams of all places on one page. FILE is optional then and has alerts, receivers and tokens; its \
            backends are not used, and of its streams the settings alone.

            Streams with `player: chrome` or `page` play in an installed Chromium, each in a tab: see --max-tabs.

            SIGHUP, or a change of FILE, reads the configuration again: streams that did not change play on, and a configuration \
            with problems changes nothing. SIGTERM and Ctrl-C stop the sessions and deliver the queued samples.

            Exit codes: 0 stopped, 1 the configuration has problems or the address of --listen cannot be used, 2 wrong arguments, \
            3 stopped, but some samples were not delivered.
            """
    )

    @Argument(help: "YAML file of the configuration; optional with --from.")
    var file: String?

    @Option(
        help: ArgumentHelp(
            """
            Show what monitors in other places write instead of playing streams. One of:
            """,
            discussion: """
                kafka:HOST:PORT[,HOST:PORT…]/TOPIC: a topic; with ?tls, &ca=FILE, &sasl=MECHANISM as needed
                nats:HOST[:PORT][,HOST…]/SUBJECT: a subject, and the JetStream stream that stores it; with ?tls, &ca=FILE as needed
                clickhouse:http://HOST:8123/?database=NAME&table=NAME: a table or view with the columns of sql/clickhouse/fleet
                """,
            valueName: "source"
        )
    )
    var from: String?

    @Option(
        help: ArgumentHelp(
            """
            Where reading begins if --state has no position: 'latest', a time such as 10m, or an instant such as \
            2026-11-21T10:00:00Z.
            """,
            valueName: "begin"
        ),
        transform: FeedStart.read
    )
    var since: FeedStart?

    @Option(
        help: ArgumentHelp(
            """
            How long a place may send no sample before that is an incident (default: 3m); longer than the pauses between the \
            sessions of its sampled streams.
            """,
            valueName: "time"
        )
    )
    var silence: DurationOption?

    @Option(
        name: .customLong("credentials-from"),
        help: ArgumentHelp(
            """
            Where the credentials of --from are: the name of an environment variable, or 'file:PATH'. It holds USER:PASSWORD; for \
            nats also a token, a seed, or the text of a credentials file.
            """,
            valueName: "variable-or-file"
        )
    )
    var credentials: CredentialsOption?

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
        name: .customLong("tls-certificate"),
        help: ArgumentHelp(
            """
            PEM file with the certificate of --listen, then those between it and its authority: the server speaks HTTPS (TLS 1.2 \
            and later). The files are read again when they change, and after SIGHUP.
            """,
            valueName: "file"
        )
    )
    var tlsCertificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("PEM file with the key of --tls-certificate, without a passphrase.", valueName: "file")
    )
    var tlsKey: String?

    @Option(
        help: """
            Directory for what survives a restart: queued samples and messages, and the states of alerts. Without it, they are \
            lost with the process. Processes with different shards may share a directory.
            """
    )
    var state: String?

    @Option(
        help: ArgumentHelp(
            "Location of this monitor, which every sample carries; replaces `location` of the configuration.",
            valueName: "name"
        ),
        transform: SampleLabels.location
    )
    var location: String?

    @Flag(help: "Print the messages of alerts instead of sending them.")
    var dryRun = false

    @Flag(help: "Print lines instead of a table, also on a terminal.")
    var plain = false

    @Option(help: "Number of sessions that play at the same time; further ones wait.")
    var maxSessions = 20_000

    @Option(
        name: .customLong("max-tabs"),
        help: ArgumentHelp(
            """
            Number of tabs of Chromium that play at the same time, for streams with `player: chrome` or `page`; each takes some \
            hundred megabytes.
            """,
            valueName: "count"
        )
    )
    var maxTabs = 8

    @OptionGroup var browser: BrowserProgram

    @Flag(help: "Refuse to fetch from loopback, private and other special addresses: for lists of unknown origin.")
    var refusePrivateAddresses = false

    @OptionGroup var access: AccessOptions

    func validate() throws {
        if from == nil {
            if file == nil {
                throw ValidationError("a configuration is needed: give its FILE, or a source with --from")
            }
            let given = [
                ("since", since != nil), ("silence", silence != nil), ("credentials-from", credentials != nil),
            ]
            for (name, isGiven) in given where isGiven {
                throw ValidationError("--\(name) needs --from")
            }
        } else if shard != nil {
            throw ValidationError(
                "--shard and --from must not stand together: the monitors of the places have the shards"
            )
        }
        _ = try feed()
        try silence?.validate("--silence", in: .seconds(10)...(.seconds(86_400)))
        if testMessage != nil, check { throw ValidationError("--test-message and --check must not stand together") }
        if let shard, Shard(shard) == nil {
            throw ValidationError(
                "--shard must be NUMBER/COUNT such as 2/5, with NUMBER from 1 to COUNT (found '\(shard)')"
            )
        }
        guard (1...1_000_000).contains(maxSessions) else {
            throw ValidationError("--max-sessions must be between 1 and 1000000 (found \(maxSessions))")
        }
        guard (1...BrowserOptions.maxTabs).contains(maxTabs) else {
            throw ValidationError("--max-tabs must be between 1 and \(BrowserOptions.maxTabs) (found \(maxTabs))")
        }
        if let listen {
            guard HostPort(listening: listen) != nil else {
                throw ValidationError(
                    "--listen must be HOST:PORT such as 127.0.0.1:9464 or [::1]:9464 (found '\(listen)')"
                )
            }
        } else if token != nil {
            throw ValidationError("--token-from needs --listen")
        } else if tlsCertificate != nil || tlsKey != nil {
            throw ValidationError("--tls-certificate and --tls-key need --listen")
        }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key must stand together")
        }
    }

    /// The source of `--from`. Read here and not by the parser, whose error would repeat a password in the address.
    func feed() throws -> FeedOption? { try from.map { try FeedOption.read($0) } }

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
            if let problem = problem(of: configuration) { throw ValidationError(problem) }
            return try await WatchRun(self, configuration, from: sources).run()
        }
        let terminal = Terminal(isQuiet: true)
        let configuration = try result.get(orReport: terminal, toStandardError: false)
        if let problem = problem(ofBrowser: configuration) {
            try terminal.output("\(problem)\n")
            throw ExitCode(ExitStatus.failed.rawValue)
        }
        for problem in configuration.warnings { try terminal.output("warning: \(problem)\n") }
        try terminal.output(summary(of: configuration))
    }

    /// Reads the configuration, all streams of it.
    ///
    /// - Parameter kinds: the kinds of backends. A signal, which reads the configuration again, has no task, and so not
    ///   the kinds of the task.
    func read(
        kinds: BackendKinds
    ) -> (result: Result<WatchConfiguration, ConfigurationError>, sources: ConfigurationSources) {
        let profiles = Set(PlayerProfile.named.map(\.name))
        var (result, sources): (Result<WatchConfiguration, ConfigurationError>, ConfigurationSources)
        if let file {
            (result, sources) = WatchConfiguration.read(
                contentsOf: file,
                kinds: kinds,
                profiles: profiles,
                needsStreams: from == nil
            )
        } else {
            (result, sources) = (.success(WatchConfiguration()), ConfigurationSources())
        }
        if from != nil { result = result.map { $0.reading(silence: silence?.duration ?? .seconds(180)) } }
        if let location {
            result = result.map { configuration in
                var configuration = configuration
                configuration.location = location
                return configuration
            }
        }
        return (result, sources)
    }

    /// Why a configuration cannot be used with the options; nil without a reason.
    func problem(of configuration: WatchConfiguration) -> String? {
        problem(ofAccess: configuration) ?? problem(ofBrowser: configuration)
    }

    /// Why the streams of a configuration cannot play in a browser with the options; nil without a reason.
    private func problem(ofBrowser configuration: WatchConfiguration) -> String? {
        let streams = part(of: configuration).streams.filter { $0.player.needsTab }
        guard let first = streams.first else { return nil }
        if refusePrivateAddresses {
            return
                "\(first.place): --refuse-private-addresses cannot hold for a browser, which makes its requests itself; play "
                + "`\(first.name)` with the probe, or omit the option"
        }
        if !access.header.isEmpty || access.cookieJar || access.proxy != nil {
            return
                "\(first.place): --header, --cookie-jar and --proxy do not reach a browser; play `\(first.name)` with the probe, or "
                + "omit the options"
        }
        // What each stream occupies of a tab.
        let load = streams.reduce(0.0) { sum, stream in
            guard case .sampled(let every, let length) = stream.schedule else { return sum + 1 }
            return sum + length.seconds / max(every.seconds, 0.001)
        }
        // A stream that plays without a pause never gives its tab back; the others need room for their turns.
        guard load > Double(maxTabs) else { return nil }
        return
            "\(first.place): the \(streams.count) streams that play in a browser need \(Int(load.rounded(.up))) tabs at the same time, "
            + "and --max-tabs allows \(maxTabs); raise it up to \(BrowserOptions.maxTabs), lengthen `every`, or divide the streams with --shard"
    }

    /// Why the server cannot be used with a configuration: it would be open to other machines. Nil without a reason.
    private func problem(ofAccess configuration: WatchConfiguration) -> String? {
        guard let listen, let address = HostPort(listening: listen), !ServerConfiguration.isLoopback(address.host),
            token == nil, !WatchAccess.isLimited(configuration)
        else { return nil }
        return
            "--listen on an address that is not a loopback address needs --token-from, or `access` in the configuration "
            + "(found '\(listen)')"
    }

    /// The part of a configuration that this process watches.
    func part(of configuration: WatchConfiguration) -> WatchConfiguration {
        shard.flatMap { Shard($0) }.map { configuration.shard($0) } ?? configuration
    }

    private func summary(of configuration: WatchConfiguration) -> TerminalText {
        let all = String(counting: configuration.streams.count, "stream")
        let streams = shard == nil ? all : "\(part(of: configuration).streams.count) of \(all)"
        let known = configuration.places.map { "settings of \(String(counting: $0.streams.count, "stream"))" }
        let parts = [
            known ?? streams, String(counting: configuration.backends.count, "backend"),
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
