extension TerminalText {
    /// Creates text of a message of several lines that another library wrote around values from outside, as a parser of
    /// arguments does.
    ///
    /// Line breaks stay, unless they are part of one of the values that the message may repeat, so that no value adds a
    /// line.
    package init(message: String, repeating values: [String]) {
        var message = message
        // An option and its value may stand in one argument, of which the message repeats the value.
        let parts = values.compactMap { $0.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init) }
        for value in values + parts where value.unicodeScalars.contains(where: \.isUnsafeForTerminals) {
            message = message.replacing(value, with: TerminalText(value).string)
        }
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { TerminalText($0).string }
        self.init(trusted: lines.joined(separator: "\n"))
    }
}
