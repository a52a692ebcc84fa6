public import ArgumentParser
internal import InstrumentCommandLine
internal import InstrumentFiles
public import InstrumentOrigin
internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// `test-origin`: serves media on a bandwidth schedule and injects faults.
@main
struct TestOrigin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-origin",
        abstract: "Serves test media over HTTP with scheduled bandwidth and injected faults, for testing players.",
        discussion: Self.guide,
        version: ProgramVersion.line(of: "test-origin")
    )

    @Option(help: "Port to listen on; 0 chooses a free port.")
    var port = 8080

    @Option(help: "Address to listen on. Addresses other than loopback can be reached from other machines.")
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("Bandwidth and latency over time; see SCHEDULE above.", valueName: "SCHEDULE"))
    var schedule: String?

    @Option(help: ArgumentHelp("Fault to inject; may be repeated; see FAULT above.", valueName: "FAULT"))
    var fault: [String] = []

    @Option(help: ArgumentHelp("JSON file with schedule, faults and sessions; see above.", valueName: "FILE"))
    var scenario: String?

    @Option(
        help: ArgumentHelp(
            "Sharing of a link between responses: fair, or fcfs (first come, first served).",
            valueName: "MODE"
        )
    )
    var sharing: LinkSharing?

    @Option(
        help: ArgumentHelp(
            "Scope of a link: session (one link per session) or server (one link for all).",
            valueName: "SCOPE"
        )
    )
    var scope: OriginConfiguration.LinkScope?

    @Option(
        help: ArgumentHelp(
            "Additional folder or file to serve under /media/; any web page can read it. May be repeated.",
            valueName: "PATH"
        )
    )
    var media: [String] = []

    @Option(
        help: ArgumentHelp("Duration of the fixtures: up to 480s, in steps of 24s.", valueName: "TIME")
    )
    var length = DurationOption(.seconds(24))

    @Option(help: ArgumentHelp("Folder for the fixtures (default: the user's cache folder).", valueName: "FOLDER"))
    var cache: String?

    @Flag(name: .customLong("no-fixtures"), help: "Serve only the files of --media; does not require ffmpeg.")
    var withoutFixtures = false

    @Flag(name: .customLong("make-fixtures"), help: "Create the fixtures, print their folder, and exit.")
    var onlyMakes = false

    @Option(help: ArgumentHelp("File to append each request to, as one JSON object per line.", valueName: "FILE"))
    var log: String?

    @Option(help: ArgumentHelp("Number of threads that serve connections.", valueName: "COUNT"))
    var threads = 1

    static func main() async { await runProgram() }

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be between 0 and 65535 (found \(port))")
        }
        guard (1...64).contains(threads) else {
            throw ValidationError("--threads must be between 1 and 64 (found \(threads))")
        }
        try length.validate("--length", in: .seconds(1) ... .seconds(480))
        _ = try Settings(self)
    }

    func run() async throws {
        let settings = try Settings(self)
        var served = media.map(ServedMedia.files)
        if !withoutFixtures {
            let fixtures = try await makeFixtures()
            if onlyMakes { return try Terminal(isQuiet: true).output("\(fixtures.directory)\n") }
            served.insert(.fixtures(fixtures), at: 0)
        }
        let log = try log.map { try LineLog(path: $0, mode: .append) }
        var configuration = settings.configuration
        if let log { configuration.onRequest = { log.append(Array($0.json.utf8)) } }
        let origin = try await Origin.start(
            media: served,
            schedule: settings.schedule,
            faults: settings.faults,
            configuration: configuration
        )
        FileLimit.raise()
        do { try announce(origin, settings) } catch {
            await origin.stop()
            throw error
        }
        await StopSignals.first()
        await origin.stop()
        if log?.finish() == false { writeToStandardError("Some requests could not be written to the log.\n") }
        writeToStandardError("Stopped after \(origin.requests.count) requests.\n")
    }

    private func makeFixtures() async throws -> Fixtures {
        let folder = cache ?? Self.defaultCache
        let fixtures = try await Fixtures.make(in: folder, seconds: Int(length.duration.components.seconds)) { step in
            writeToStandardError("Creating fixtures: \(step)\n")
        }
        return fixtures
    }

    private func announce(_ origin: Origin, _ settings: Settings) throws {
        let style = TerminalStyle()
        var lines: [TerminalText] = ["\(style.bold("Test origin")) at \(style.link("\(origin.url())"))"]
        if !settings.schedule.isDefault { lines.append("Schedule: \(settings.schedule)") }
        for entry in origin.catalogue {
            lines.append("  \(style.link("\(origin.url(entry.path))"))  \(style.faint("\(entry.summary)"))")
        }
        lines.append("Separate session: \(style.link("\(origin.url("vod/ts/master.m3u8", session: "NAME"))"))")
        lines.append("Press Ctrl-C to stop.")
        try Terminal(isQuiet: true).output(lines.joined(separator: "\n") + "\n")
    }

    /// `XDG_CACHE_HOME`, or `.cache` at home (XDG Base Directory Specification).
    private static var defaultCache: String {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        if let cache = variable("XDG_CACHE_HOME") { return cache + "/test-origin" }
        return (variable("HOME") ?? ".") + "/.cache/test-origin"
    }
}

extension LinkSharing: ExpressibleByArgument {}
extension OriginConfiguration.LinkScope: ExpressibleByArgument {}

extension DeliverySchedule {
    fileprivate var isDefault: Bool { self == .unlimited }
}
