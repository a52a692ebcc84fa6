public import ArgumentParser
internal import InstrumentFiles
public import InstrumentOrigin
internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// `test-origin`: serves media by a schedule, and fails on command.
@main
struct TestOrigin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-origin",
        abstract: "Serves small test media over HTTP, by a schedule, and fails on command. Try your player against it.",
        discussion: Self.guide
    )

    @Option(help: "The port to listen on; 0 takes one that is free.")
    var port = 8080

    @Option(help: "The address to listen on. Others than the loopback's can be reached from outside.")
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("Bandwidth and latency over time; see below.", valueName: "SCHEDULE"))
    var schedule: String?

    @Option(help: ArgumentHelp("What goes wrong, and when; can be given several times; see below.", valueName: "FAULT"))
    var fault: [String] = []

    @Option(help: ArgumentHelp("A JSON file with schedule, faults and sessions; see below.", valueName: "FILE"))
    var scenario: String?

    @Option(help: ArgumentHelp("How responses share a link: fair or fcfs (one after another).", valueName: "HOW"))
    var sharing: LinkSharing?

    @Option(help: ArgumentHelp("Who shares a link: each session has its own, or server.", valueName: "WHO"))
    var scope: OriginConfiguration.LinkScope?

    @Option(
        help: ArgumentHelp(
            "A folder or file to serve too, under /media/; any web page may read it.",
            valueName: "PATH"
        )
    )
    var media: [String] = []

    @Option(
        help: ArgumentHelp("How long the fixtures are, in seconds: up to 480, in steps of 24.", valueName: "SECONDS")
    )
    var length = 24

    @Option(help: ArgumentHelp("Where fixtures are kept (by default in the user's cache folder).", valueName: "FOLDER"))
    var cache: String?

    @Flag(name: .customLong("no-fixtures"), help: "Serve the files under --media only; no ffmpeg is needed.")
    var withoutFixtures = false

    @Flag(name: .customLong("make-fixtures"), help: "Make the fixtures, print their folder, and end.")
    var onlyMakes = false

    @Option(help: ArgumentHelp("Append each request as a line of JSON to this file.", valueName: "FILE"))
    var log: String?

    @Option(help: ArgumentHelp("How many threads serve the connections.", valueName: "COUNT"))
    var threads = 1

    /// As the parser has it, but for the exit code of wrong use, which is 2, as in `player-monitor`.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let code = exitCode(for: error)
            // Help is our own text.
            guard !code.isSuccess else { exit(withError: error) }
            writeToStandardError(
                TerminalText(message: fullMessage(for: error), repeating: CommandLine.arguments) + "\n"
            )
            guard code == .validationFailure else { exit(withError: code) }
            _exit(2)
        }
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        guard (1...64).contains(threads) else { throw ValidationError("Give 1 to 64 threads.") }
        guard (1...480).contains(length) else { throw ValidationError("Fixtures are 1 to 480 seconds long.") }
        _ = try Settings(self)
    }

    func run() async throws {
        let settings = try Settings(self)
        var served = media.map(ServedMedia.files)
        if !withoutFixtures {
            let fixtures = try await makeFixtures()
            if onlyMakes { return writeToStandardOutput("\(fixtures.directory)\n") }
            served.insert(.fixtures(fixtures), at: 0)
        }
        let log = try log.map { try LogFile(path: $0) }
        var configuration = settings.configuration
        if let log { configuration.onRequest = { log.append($0.json) } }
        let origin = try await Origin.start(
            media: served,
            schedule: settings.schedule,
            faults: settings.faults,
            configuration: configuration
        )
        FileLimit.raise()
        announce(origin, settings)
        await StopSignals.first()
        await origin.stop()
        log?.close()
        writeToStandardError("Stopped after \(origin.requests.count) requests.\n")
    }

    private func makeFixtures() async throws -> Fixtures {
        let folder = cache ?? Self.defaultCache
        let fixtures = try await Fixtures.make(in: folder, seconds: length) { step in
            writeToStandardError("Making fixtures: \(step)\n")
        }
        return fixtures
    }

    private func announce(_ origin: Origin, _ settings: Settings) {
        let style = Style(isTerminal: isatty(STDOUT_FILENO) == 1)
        var lines: [TerminalText] = ["\(style.bold("Test origin")) at \(style.link("\(origin.url())"))"]
        if !settings.schedule.isDefault { lines.append("Schedule: \(settings.schedule)") }
        for entry in origin.catalogue {
            lines.append("  \(style.link("\(origin.url(entry.path))"))  \(style.faint("\(entry.summary)"))")
        }
        lines.append("A session of your own: \(style.link("\(origin.url("vod/ts/master.m3u8", session: "NAME"))"))")
        lines.append("Ctrl-C ends.")
        writeToStandardOutput(lines.joined(separator: "\n") + "\n")
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
