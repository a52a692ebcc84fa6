package import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Bold, faint and coloured text, where the output is a terminal.
package struct TerminalStyle {
    /// Whether standard output is a terminal and the environment has no `NO_COLOR` (no-color.org).
    package static var isStandardOutputColored: Bool { isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil }

    /// Whether text is styled; otherwise every function returns its text unchanged.
    package let isEnabled: Bool

    /// Creates a style; by default the style of standard output.
    package init(isEnabled: Bool = isStandardOutputColored) { self.isEnabled = isEnabled }

    /// Returns bold text.
    package func bold(_ text: TerminalText) -> TerminalText { wrapped(text, "1") }
    /// Returns faint text.
    package func faint(_ text: TerminalText) -> TerminalText { wrapped(text, "2") }
    /// Returns text in the colour of links.
    package func link(_ text: TerminalText) -> TerminalText { wrapped(text, "36") }

    /// Returns text in the colour of errors.
    package func error(_ text: TerminalText) -> TerminalText { wrapped(text, "31") }
    /// Returns text in the colour of warnings.
    package func warning(_ text: TerminalText) -> TerminalText { wrapped(text, "33") }

    private func wrapped(_ text: TerminalText, _ code: TerminalText) -> TerminalText {
        isEnabled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
