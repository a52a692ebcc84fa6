/// The exit codes of the command lines, the same for all commands.
package enum ExitStatus: Int32 {
    /// The command did its work.
    case success = 0
    /// Playback failed, or a check found a fault.
    case failed = 1
    /// Wrong arguments, or an input or an output that they name cannot be used.
    case wrongUse = 2
    /// The command did its work, but some samples were not delivered.
    case undelivered = 3
    /// Standard output could not be written.
    case unwritten = 4
}
