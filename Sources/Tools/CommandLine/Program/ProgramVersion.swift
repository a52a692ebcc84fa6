package import Instrument
package import InstrumentTerminal

/// What `--version` prints: the program with its version on the first line, then the compiler and the libraries that
/// the process runs with, one on each line.
package struct ProgramVersion {
    /// `player-monitor 0.1.0-dev`, which a shell can read.
    package static func line(of program: String) -> String { "\(program) \(InstrumentVersion.current)" }

    /// All lines.
    package let text: TerminalText

    package init(of program: String, libraries: [LinkedLibrary]) {
        let lines = [Self.line(of: program), "Swift \(InstrumentVersion.compiler)"] + libraries.map(\.description)
        text = lines.map { TerminalText($0) + "\n" }.joined()
    }
}
