internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentCompression
internal import InstrumentDurableQueue
internal import InstrumentKafka
internal import InstrumentProbe
internal import InstrumentTLS
internal import InstrumentTransport

/// The root command: measures playback from the command line.
struct PlayerMonitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "player-monitor",
        abstract: "Plays media headlessly and reports the viewing experience: startup time, stalls, quality.",
        discussion: """
            Times have a unit, as in 500ms, 5s, 2m or 1h; a number alone is in seconds. Text is coloured on a terminal, unless the \
            environment variable NO_COLOR is set.

            Exit codes of all commands:
              0  success, also after Ctrl-C
              1  playback failed, or a check found a fault
              2  wrong arguments, or a file or service that they name cannot be used
              3  some samples were not delivered
              4  standard output could not be written
            """,
        version: ProgramVersion.line(of: "player-monitor"),
        subcommands: [
            PlayCommand.self, CheckCommand.self, WatchCommand.self, TopCommand.self, IncidentsCommand.self,
            ObjectivesCommand.self, AttachCommand.self, QueueCommand.self,
            XAPICommand.self, SeerCommand.self, AdaptationCommand.self, PrivacyCommand.self, ReplayCommand.self,
            ReportCommand.self, ExplainCommand.self, AdsCommand.self, SCTE35Command.self, CMCDCommand.self,
        ] + deviceCommands
    )

    private static var deviceCommands: [any ParsableCommand.Type] {
        #if os(Linux)
        [SensorsCommand.self, DeviceCommand.self]
        #else
        []
        #endif
    }

    /// The `User-Agent` of all requests.
    static let userAgent = InstrumentVersion.userAgent(of: "player-monitor")

    /// What the metric `instrument_build_info` names.
    static let build: [(name: String, value: String)] =
        [("version", InstrumentVersion.current), ("swift", InstrumentVersion.compiler)]
        + libraries.map { ($0.name.lowercased(), $0.version) }

    /// The libraries that the program runs with.
    static var libraries: [LinkedLibrary] {
        var libraries: [LinkedLibrary] = [.ffmpeg]
        #if !canImport(Darwin)
        libraries.append(.libcurl)
        #endif
        return libraries + [.librdkafka, .openSSL, .sqlite, .zlib]
    }
}
