internal import ArgumentParser
internal import Instrument
internal import InstrumentCheck
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentRules
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentTransport

/// `player-monitor check`: applies the rules to streams once.
struct CheckCommand: AsyncParsableCommand {
    /// The format of the output.
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, junit }

    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check HLS and DASH streams against the rules of their formats; exit code 1 if a rule is broken.",
        discussion: """
            Fetches the playlists or the MPD, reloads live ones for a while, fetches segments if asked to, and reports each \
            broken rule with its source, what was found, what was expected, and what to do.

            Examples:
              player-monitor check https://example.org/live/master.m3u8
              player-monitor check --segments 3 --for 1m \\
                  --strict https://example.org/live.mpd
              player-monitor check --segments 5 --checks black,silence,freeze,loudness \\
                  https://example.org/live/master.m3u8
              player-monitor check --format junit --ignore gap-listed \\
                  https://example.org/film.m3u8 > check.xml
              player-monitor check --show --for 0 https://example.org/film.m3u8
              player-monitor check --list

            A warning leaves the exit code 0, unless --strict is given. A black, frozen or silent interval counts as an error.
            If nothing of the media could be checked (no playlist, no segment that is available now, with --segments no \
            segment that could be read), the outcome is 'nothing to check' with its reason, and the exit code 1.
            """
    )

    @Argument(help: "http(s) URLs of HLS playlists and DASH manifests.")
    var urls: [String] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Time for which live playlists are reloaded; 0 fetches each once.", valueName: "time")
    )
    var time = DurationOption(.seconds(30))

    @Option(help: "Number of segments of each rendition to fetch at the start and after each reload.")
    var segments = 0

    @Option(
        help: ArgumentHelp(
            """
            Checks of pictures and sound, separated by commas: black, freeze, silence, each with a shortest duration as in \
            'black=5s' (default: 2s), and loudness. Decodes keyframes of the lowest rendition; needs --segments.
            """,
            valueName: "checks"
        ),
        transform: MediaCheckOption.read
    )
    var checks: MediaCheckOption?

    @Flag(help: "Decode every picture for --checks, not only keyframes.")
    var allPictures = false

    @Option(help: ArgumentHelp("Time limit for each request.", valueName: "time"))
    var timeout = DurationOption(.seconds(15))

    @Option(help: "Output format: text, json (one object per URL and line), or junit (XML).")
    var format = Format.text

    @Option(help: ArgumentHelp("Rule to leave out; may be repeated.", valueName: "rule"))
    var ignore: [String] = []

    @Flag(help: "Show the stream as the check understood it: variants, renditions, segments, periods, encryption.")
    var show = false

    @Flag(help: "List all rules with severity and source, and exit.")
    var list = false

    @Flag(help: "Treat warnings as errors.")
    var strict = false

    @Flag(help: "Refuse to fetch from loopback, private and other special addresses: for URLs of unknown origin.")
    var refusePrivateAddresses = false

    @OptionGroup var access: AccessOptions

    func validate() throws {
        if list { return }
        if urls.isEmpty { throw ValidationError("nothing to check; give the URL of a playlist or MPD, or --list") }
        for url in urls {
            if let advice = Address.advice(onFile: url) { throw ValidationError(advice) }
            _ = try Address.read(url, of: "'\(url)'")
        }
        guard (0...1_000).contains(segments) else {
            throw ValidationError("--segments must be between 0 and 1000 (found \(segments))")
        }
        try timeout.validatePositive("--timeout")
        if checks != nil, segments == 0 { throw ValidationError("--checks needs segments; add --segments 3") }
        let known = Set(Rule.all.map(\.id.description))
        for name in ignore where !known.contains(name) {
            throw ValidationError("--ignore must be a rule of --list (found '\(name)')")
        }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: true)
        if list { return try terminal.output(CheckText.list(format: format)) }
        let transport = try SystemTransport.ofProgram(
            refusingPrivateAddresses: refusePrivateAddresses,
            access: access
        )
        let reports = try await reports(transport)
        switch format {
        case .text:
            for report in reports {
                try terminal.output(CheckText(isStrict: strict, showsStream: show).text(of: report))
            }
        case .json:
            for report in reports { try terminal.output(json: CheckJSON.value(of: report, isStrict: strict).bytes) }
        case .junit: try terminal.output(CheckXML(rules: rules, isStrict: strict).text(of: reports))
        }
        if reports.contains(where: { $0.isFailed(isStrict: strict) }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private var rules: [Rule] { Rule.all.filter { !ignore.contains($0.id.description) } }

    /// Checks all streams, a few at a time; the reports are in the order of the URLs.
    private func reports(_ transport: any HTTPTransport) async throws -> [StreamCheckReport] {
        var configuration = StreamCheckConfiguration()
        configuration.rules = rules
        configuration.duration = time.duration
        configuration.segmentCount = segments
        configuration.timeout = timeout.duration
        configuration.mediaChecks = checks?.configuration
        configuration.mediaChecks?.allPictures = allPictures
        try access.apply(to: &configuration)
        let checks = try urls.map { try StreamCheck(HTTPURL($0), transport: transport, configuration: configuration) }
        let task = Task { await inParallel(checks, limit: 16) { await $0.run() } }
        // The first signal ends the checks and reports what was found by then.
        StopSignals.report { task.cancel() }
        return await task.value
    }
}

/// The value of `--checks`.
struct MediaCheckOption {
    var configuration = MediaCheckConfiguration()

    /// Reads names of checks with their times, for the `transform` of an option.
    @Sendable static func read(_ argument: String) throws -> MediaCheckOption {
        var option = MediaCheckOption()
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let (name, time) = part.split(at: "=")
            guard let minimum = time.map({ DurationOption(argument: String($0)) }) ?? DurationOption(.seconds(2)) else {
                throw ValidationError(DurationOption.forms)
            }
            switch name {
            case "black": option.configuration.black = minimum.duration
            case "freeze": option.configuration.freeze = minimum.duration
            case "silence": option.configuration.silence = minimum.duration
            case "loudness" where time == nil: option.configuration.loudness = true
            default:
                throw ValidationError("the checks are black, freeze, silence and loudness, as in black=5s,loudness")
            }
        }
        return option
    }
}
