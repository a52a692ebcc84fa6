internal import InstrumentCommandLine

/// The program `player-monitor`, as a function: for its executable, and for a command line with backends of its own.
public enum PlayerMonitorProgram {
    /// Runs the command that the arguments of the process name, and ends the process.
    public static func run() async { await PlayerMonitor.runProgram(libraries: { PlayerMonitor.libraries }) }
}
