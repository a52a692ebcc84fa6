package import ArgumentParser
internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension AsyncParsableCommand {
    /// Runs the program whose root command this type is, and exits on errors.
    ///
    /// Unlike the parser's own `main`, wrong arguments exit with code 2, standard output that cannot be written
    /// with code 4, and every message is escaped for the terminal.
    package static func runProgram() async {
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
            // Help is a result like any other; the parser would not report that standard output could not be written.
            do {
                let text = fullMessage(for: error)
                // Help is the program's own text.
                if !text.isEmpty { try Terminal(isQuiet: true).output(TerminalText(trusted: text) + "\n") }
                _exit(ExitStatus.success.rawValue)
            } catch let failure {
                error = failure
            }
        }
        if error is OutputError {
            writeToStandardError("\(configuration.commandName ?? "\(Self.self)"): \(error)\n")
            _exit(ExitStatus.unwritten.rawValue)
        }
        // An exit code alone has no message.
        let (code, message) = (exitCode(for: error), fullMessage(for: error))
        if !message.isEmpty {
            writeToStandardError(TerminalText(message: message, repeating: CommandLine.arguments) + "\n")
        }
        guard code == .validationFailure else { exit(withError: code) }
        _exit(ExitStatus.wrongUse.rawValue)
    }
}
