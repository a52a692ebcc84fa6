internal import InstrumentCommands

/// `player-monitor`: measures playback from the command line.
@main
enum Program {
    static func main() async { await PlayerMonitorProgram.run() }
}
