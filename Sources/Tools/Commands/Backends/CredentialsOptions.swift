internal import ArgumentParser
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentCommandLine

/// The credentials of the backends.
struct CredentialsOptions: ParsableArguments {
    private static let name = "credentials-from"

    @Option(
        name: .customLong(Self.name),
        help: ArgumentHelp(
            """
            Where the credentials of a backend are: the name of an environment variable, or 'file:PATH'. Never the credentials \
            themselves, which other users could see in the list of processes. A prefix such as 'sift=' limits them to that \
            backend. May be repeated. What the variable or the file holds:
            """,
            discussion: BackendKinds.current.withCredentials.map { "\($0.name): \($0.credentials?.text ?? "")" }
                .joined(separator: "\n"),
            valueName: "variable-or-file"
        )
    )
    var credentials: [CredentialsOption] = []

    /// Creates backends. Exits with code 2 if a backend cannot be created, or if two would share a place in the queue.
    ///
    /// - Parameter queue: the directory of the queue; nil for a queue in memory.
    func make(_ backends: [ChosenBackend], _ terminal: Terminal, queue: String?) throws -> [any Backend] {
        let made = try backends.map { backend in
            let context = BackendContext(
                for: backend.kind,
                credentials: credentials(for: backend.kind),
                directory: queue,
                terminal: terminal
            )
            do throws(BackendKindError) { return try backend.make(in: context) } catch {
                throw ValidationError(error.description)
            }
        }
        for (name, same) in Dictionary(grouping: made, by: \.name) where same.count > 1 {
            throw ValidationError("the backend '\(name)' must be given only once; start another run for the other one")
        }
        return made
    }

    /// The credentials with the name of the kind, otherwise those without a name.
    private func credentials(for kind: BackendKind) -> BackendCredentials? {
        guard let form = kind.credentials?.text else { return nil }
        let names = BackendKinds.current.withCredentials.map(\.name)
        let given = credentials.map { $0.divided(byPrefixesOf: names) }
        let found = given.last { $0.name == kind.name } ?? given.last { $0.name == nil }
        return found.map { BackendCredentials($0.source, namedBy: "--" + Self.name, form: form) }
    }
}
