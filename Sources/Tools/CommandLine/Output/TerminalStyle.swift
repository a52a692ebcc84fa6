package import InstrumentTerminal

/// Bold, faint and coloured text, where the output is a terminal.
package struct TerminalStyle {
    /// Whether text is styled; otherwise every function returns its text unchanged.
    package let isEnabled: Bool

    /// Creates a style; by default the style of standard output.
    package init(isEnabled: Bool = StandardOutput.isColored) { self.isEnabled = isEnabled }

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
