internal import ArgumentParser
internal import Instrument
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentFiles
internal import InstrumentTerminal

/// The browser that plays: its program, and the player libraries of its pages.
struct BrowserProgram: ParsableArguments {
    private static var maxLibraryLength: Int { 8 << 20 }

    @Option(
        name: .customLong("browser"),
        help: ArgumentHelp(
            "Chromium that plays: a path, or a name in PATH. By default the first that is installed of "
                + "\(ChromeLaunch.programs.joined(separator: ", ")).",
            valueName: "program"
        )
    )
    var program: String?

    @Option(
        name: .customLong("player-library"),
        help: ArgumentHelp(
            """
            File of hls.js, dash.js, Shaka Player or Video.js, with which Chromium plays the URL of a playlist or an MPD. May be \
            repeated. Without a library that plays it, the browser's own player does, if it can.
            """,
            valueName: "file"
        )
    )
    var libraries: [String] = []

    /// Whether an option is given.
    var isGiven: Bool { program != nil || !libraries.isEmpty }

    var launch: ChromeLaunch { ChromeLaunch(program: program) }

    /// Reads the libraries.
    func texts() throws -> [[UInt8]] {
        try libraries.map { path in
            let bytes: [UInt8]?
            do throws(FileError) {
                bytes = try SmallFile.read(path, atMost: Self.maxLibraryLength, followsLinks: true)
            } catch {
                throw ValidationError("--player-library: \(error)")
            }
            guard let bytes else { throw ValidationError("--player-library: no file '\(path)'") }
            return bytes
        }
    }
}

/// The browser that `play --player chrome` starts.
struct BrowserOptions: ParsableArguments {
    /// How many tabs one browser has at most: each is a process with some hundred megabytes.
    static var maxTabs: Int { 32 }

    @OptionGroup var program: BrowserProgram

    /// Checks the options of a command that starts a browser.
    func validate(_ command: PlayCommand) throws {
        if command.speed == .max {
            throw ValidationError("--player chrome plays in real time; omit --speed max, or use --player probe")
        }
        if command.requests != nil || command.ads.areWanted {
            throw ValidationError(
                "--requests and --ads need --player probe: a page in a browser makes its own requests"
            )
        }
        if command.player.loop != 1 || !command.player.viewer.isEmpty || command.player.startAt.duration != .zero {
            throw ValidationError(
                """
                --loop, --seek, --pause, --rate and --start-at need --player probe: a page in a browser decides what it plays
                """
            )
        }
    }

    /// Checks that no option of a browser is given without one.
    func validateUnused() throws {
        if program.isGiven {
            throw ValidationError("--browser and --player-library must be given together with --player chrome")
        }
    }

    /// Plays each source in a tab.
    func play(_ command: PlayCommand, _ terminal: Terminal) async throws {
        let sources = try command.sources + (command.list.map(SourceList.read) ?? [])
        guard (1...Self.maxTabs).contains(sources.count) else {
            throw ValidationError(
                "--player chrome plays 1 to \(Self.maxTabs) sources at the same time (found \(sources.count))"
            )
        }
        let pages = try sources.map { try BrowserPage($0) }
        let texts = try program.texts()
        var limits = BrowserRun.Limits(endsWithPlayback: true, start: command.timeout.duration)
        limits.duration = command.duration?.duration
        limits.pages = pages.count
        let run = BrowserRun(terminal: terminal, delivery: command.delivery, limits: limits, isQuiet: command.quiet)
        let configuration = ChromeConfiguration(reportsRequests: command.player.requestEvents)
        let launch = program.launch
        try await run.run { report in
            do throws(ChromeError) {
                return try ChromeBrowser(starting: launch, configuration: configuration, report: report)
            } catch {
                terminal.note("player-monitor: \(error)")
                throw ExitCode(ExitStatus.failed.rawValue)
            }
        } open: { browser in
            for page in pages { page.open(in: browser, with: texts) }
        }
    }
}

/// A source that a browser opens.
enum BrowserPage: Hashable {
    /// A playlist, an MPD or a film, and the address of the page that plays it.
    case stream(address: String, page: String)
    case page(String)

    private static let endings = [".m3u8", ".mpd", ".mp4", ".m4v", ".webm", ".mp3", ".m4a", ".ogg", ".wav"]

    init(_ source: String) throws {
        guard let (scheme, rest) = SourceText.split(source), scheme == "http" || scheme == "https" else {
            throw ValidationError(
                "--player chrome opens http and https URLs (found '\(SourceText.redacted(source).prefix(200))'); serve a file over "
                    + "HTTP, or use --player probe"
            )
        }
        let address = rest.prefix { $0 != "?" && $0 != "#" }
        let path = address.drop { $0 != "/" }.lowercased()
        guard Self.endings.contains(where: path.hasSuffix) else {
            self = .page(source)
            return
        }
        self = StreamPage.address(playing: source).map { .stream(address: source, page: $0) } ?? .page(source)
    }

    func open(in browser: ChromeBrowser, with libraries: [[UInt8]]) {
        switch self {
        case .page(let address): browser.open(address)
        case .stream(let address, let page):
            browser.open(page, showing: StreamPage.html(playing: address, with: libraries))
        }
    }
}
