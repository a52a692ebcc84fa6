internal import ArgumentParser
internal import InstrumentBackendKinds
internal import InstrumentTerminal

/// The option `--backend`.
enum BackendOption {
    static var help: ArgumentHelp {
        ArgumentHelp(
            "Destination of the samples; may be repeated. One of:",
            discussion: BackendKinds.current.all.map(\.helpLine).joined(separator: "\n"),
            valueName: "backend"
        )
    }

    static var completion: CompletionKind { .list(BackendKinds.current.names) }

    /// Reads a backend, for the `transform` of the option. The error repeats parts of the argument, which must not add
    /// a line.
    @Sendable static func read(_ argument: String) throws -> ChosenBackend {
        do throws(BackendKindError) { return try BackendKinds.current.backend(argument) } catch {
            throw ValidationError(TerminalText(error.description).string)
        }
    }
}

extension Collection<ChosenBackend> {
    /// The names of the kinds that write to standard output, in the order of the help.
    var namesOfOutput: [String] {
        let names = Set(filter(\.kind.writesOutput).map(\.kind.name))
        return BackendKinds.current.names.filter(names.contains)
    }

    /// Exits with code 2 if two backends write to standard output.
    func validateOutput() throws {
        let names = namesOfOutput
        if names.count > 1 {
            throw ValidationError(
                "the backends \(names.joined(separator: " and ")) both write to standard output; choose one"
            )
        }
    }
}
