internal import ArgumentParser
internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// `player-monitor`: watches media from the command line.
@main
struct PlayerMonitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "player-monitor",
        abstract: "Plays media without showing it, and tells what a viewer would have lived through.",
        discussion: """
            Exit codes: 0 played (or stopped by Ctrl-C), 1 playback failed, 2 wrong use, 3 played, but not everything was \
            delivered, 4 standard output could not be written. What checks something ends with 1 if it found a fault.
            """,
        subcommands: [
            PlayCommand.self, AttachCommand.self, QueueCommand.self, XAPICommand.self, SeerCommand.self,
            AdaptationCommand.self, PrivacyCommand.self,
        ] + deviceCommands
    )

    private static var deviceCommands: [any ParsableCommand.Type] {
        #if os(Linux)
        [SensorsCommand.self, DeviceCommand.self]
        #else
        []
        #endif
    }

    /// As the parser has it, but for the exit code of wrong use, which is 2 here.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
    }

    private static func end(with error: any Error) -> Never {
        var error = error
        if exitCode(for: error) == .success {
            // Help is a result like any other; the parser would not notice that nobody takes it.
            do {
                let text = fullMessage(for: error)
                // Help is our own text.
                if !text.isEmpty { try Terminal(isQuiet: true).output(TerminalText(trusted: text) + "\n") }
                _exit(ExitStatus.played.rawValue)
            } catch let failure {
                error = failure
            }
        }
        if error is OutputError {
            writeToStandardError("player-monitor: \(error)\n")
            _exit(ExitStatus.unwritten.rawValue)
        }
        // An exit code alone says nothing.
        let (code, message) = (exitCode(for: error), fullMessage(for: error))
        if !message.isEmpty {
            writeToStandardError(TerminalText(message: message, repeating: CommandLine.arguments) + "\n")
        }
        guard code == .validationFailure else { exit(withError: code) }
        _exit(ExitStatus.wrongUse.rawValue)
    }
}

/// What the exit code says.
enum ExitStatus: Int32 {
    case played = 0
    case failed = 1
    case wrongUse = 2
    case undelivered = 3
    case unwritten = 4
}
