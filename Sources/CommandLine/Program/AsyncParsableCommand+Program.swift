package import ArgumentParser
package import Instrument
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
    ///
    /// - Parameter libraries: the libraries that `--version` names.
    package static func runProgram(libraries: @Sendable () -> [LinkedLibrary] = { [] }) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Before anything is set up.
        if arguments == ["--version"] { succeed(with: version(libraries())) }
        StandardStreams.occupy()
        var command: any ParsableCommand
        do { command = try parseAsRoot(arguments) } catch { refuse(arguments, error, libraries) }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            fail(error)
        }
    }

    private static var program: String { configuration.commandName ?? "\(Self.self)" }

    private static func version(_ libraries: [LinkedLibrary]) -> TerminalText {
        ProgramVersion(of: program, libraries: libraries).text
    }

    /// Ends the program after arguments that are wrong, or that ask for help.
    private static func refuse(_ arguments: [String], _ error: any Error, _ libraries: @Sendable () -> [LinkedLibrary])
        -> Never
    {
        if exitCode(for: error) == .success {
            let text = fullMessage(for: error)
            if text == ProgramVersion.line(of: program) { succeed(with: version(libraries())) }
            // Help is the program's own text.
            succeed(with: text.isEmpty ? "" : TerminalText(trusted: text) + "\n")
        }
        let path = CommandPath(Self.self, arguments)
        let message =
            "Error: \(path.unknownCommand ?? DurationOption.addingForms(to: message(for: error)))\nSee '\(path.text) --help'."
        writeToStandardError(TerminalText(message: message, repeating: arguments) + "\n")
        _exit(ExitStatus.wrongUse.rawValue)
    }

    /// Writes a result and ends the program.
    private static func succeed(with text: TerminalText) -> Never {
        do throws(OutputError) { try Terminal(isQuiet: true).output(text) } catch { fail(error) }
        _exit(ExitStatus.success.rawValue)
    }

    /// Ends the program after an error of a command that has begun: its message alone, without the usage.
    private static func fail(_ error: any Error) -> Never {
        // A command may ask for its help.
        if exitCode(for: error) == .success {
            let text = fullMessage(for: error)
            succeed(with: text.isEmpty ? "" : TerminalText(trusted: text) + "\n")
        }
        let message = error is OutputError ? "\(error)" : message(for: error)
        // An exit code alone has no message.
        if !message.isEmpty { writeToStandardError("\(program): \(message)\n") }
        if error is OutputError { _exit(ExitStatus.unwritten.rawValue) }
        let code = exitCode(for: error)
        guard code == .validationFailure else { exit(withError: code) }
        _exit(ExitStatus.wrongUse.rawValue)
    }
}
