public import InstrumentBackendKinds
internal import InstrumentCommandLine

/// The program `player-monitor`, for a command line with further kinds of backends:
///
/// ```swift
/// await PlayerMonitorProgram.run(adding: [acmeKind])
/// ```
public enum PlayerMonitorProgram {
    /// Runs the command that the arguments of the process name, and exits if the command fails.
    ///
    /// - Parameter kinds: kinds of backends beside those of `player-monitor`. A kind replaces one of the same name.
    public static func run(adding kinds: [BackendKind] = []) async {
        await BackendKinds.$current.withValue(BackendKinds(BackendKind.standard + kinds)) {
            await PlayerMonitor.runProgram(libraries: { PlayerMonitor.libraries })
        }
    }
}
