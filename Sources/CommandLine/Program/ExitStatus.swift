/// The exit codes of the command lines.
package enum ExitStatus: Int32 {
    /// The command did its work.
    case success = 0
    /// Playback failed, or a check found a fault.
    case failed = 1
    /// Wrong arguments.
    case wrongUse = 2
    /// The playback succeeded, but some samples were not delivered.
    case undelivered = 3
    /// Standard output could not be written.
    case unwritten = 4
}
