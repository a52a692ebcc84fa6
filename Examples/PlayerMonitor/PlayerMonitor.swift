internal import ArgumentParser
internal import InstrumentCommandLine

/// `player-monitor`: measures playback from the command line.
@main
struct PlayerMonitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "player-monitor",
        abstract: "Plays media headlessly and reports the viewing experience: startup time, stalls, quality.",
        discussion: """
            Exit codes: 0 success (also after Ctrl-C), 1 playback failed or a check found a fault, 2 wrong arguments, 3 playback \
            succeeded but some samples were not delivered, 4 standard output could not be written.
            """,
        subcommands: [
            PlayCommand.self, CheckCommand.self, WatchCommand.self, TopCommand.self, AttachCommand.self,
            QueueCommand.self,
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

    static func main() async { await runProgram() }
}
