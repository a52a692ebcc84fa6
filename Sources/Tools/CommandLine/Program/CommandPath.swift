internal import ArgumentParser
internal import InstrumentText

/// The commands that arguments name, from the root on: for messages, because the parser does not tell.
struct CommandPath {
    /// The names of the commands, with the program's own.
    private(set) var names: [String]
    /// The word in the place of a command that is not a command, and those that exist there; nil if all are known.
    private(set) var unknown: (word: String, known: [String])?

    init(_ root: any ParsableCommand.Type, _ arguments: [String]) {
        var command = root
        names = [Self.name(of: root)]
        for argument in arguments {
            // What stands behind an option may be its value.
            if argument.hasPrefix("-") || command.configuration.subcommands.isEmpty { return }
            guard let next = command.configuration.subcommands.first(where: { Self.name(of: $0) == argument }) else {
                if argument == "help" { return }
                unknown = (argument, command.configuration.subcommands.map(Self.name))
                return
            }
            names.append(argument)
            command = next
        }
    }

    /// `'player-monitor play'`
    var text: String { names.joined(separator: " ") }

    /// That there is no such command, and which one may be meant; nil if all commands are known.
    var unknownCommand: String? {
        guard let unknown else { return nil }
        let nearest = Suggestion.nearest(to: unknown.word, in: unknown.known)
        let known = unknown.known.joined(separator: ", ")
        let advice = nearest.map { "did you mean '\($0)'?" } ?? "the commands are \(known)"
        return "'\(text)' has no command '\(unknown.word)'; \(advice)"
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? "\(command)"
    }
}
