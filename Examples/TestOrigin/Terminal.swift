internal import InstrumentFiles
internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Colour where somebody looks.
struct Style {
    var isTerminal: Bool

    func bold(_ text: TerminalText) -> TerminalText { wrapped(text, "1") }
    func faint(_ text: TerminalText) -> TerminalText { wrapped(text, "2") }
    func link(_ text: TerminalText) -> TerminalText { wrapped(text, "36") }

    private func wrapped(_ text: TerminalText, _ code: TerminalText) -> TerminalText {
        isTerminal && getenv("NO_COLOR") == nil ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// The only places from which the program writes to a terminal: text from outside (names of files, errors) arrives escaped.
func writeToStandardError(_ text: TerminalText) { write(text, to: STDERR_FILENO) }
func writeToStandardOutput(_ text: TerminalText) { write(text, to: STDOUT_FILENO) }

/// Whoever closed the stream does not want the rest, so that a failure ends the writing and nothing else.
private func write(_ text: TerminalText, to descriptor: Int32) { _ = SystemFile.writeAll(text.bytes, to: descriptor) }
