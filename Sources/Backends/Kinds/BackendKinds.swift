internal import InstrumentText

/// The kinds of backends that a command line offers, in the order of its help.
package struct BackendKinds: Sendable {
    package let all: [BackendKind]
    private let byName: [String: BackendKind]

    /// Creates a list. A kind replaces an earlier one of the same name.
    package init(_ kinds: [BackendKind]) {
        byName = Dictionary(kinds.map { ($0.name, $0) }) { _, last in last }
        var names: Set<String> = []
        all = kinds.compactMap { [byName] kind in names.insert(kind.name).inserted ? byName[kind.name] : nil }
    }

    /// The names, in the order of the help.
    package var names: [String] { all.map(\.name) }

    /// The kinds whose backends may have credentials.
    package var withCredentials: [BackendKind] { all.filter { $0.credentials != nil } }

    package func kind(named name: some StringProtocol) -> BackendKind? { byName[String(name)] }

    /// Reads `KIND` or `KIND:ADDRESS`. The error names what is missing.
    package func backend(_ argument: String) throws(BackendKindError) -> ChosenBackend {
        let (name, address) = argument.split(at: ":")
        guard let kind = kind(named: name) else { throw unknown(String(name)) }
        return try kind.backend(at: address.map(String.init))
    }

    private func unknown(_ name: String) -> BackendKindError {
        if name == "http" || name == "https" {
            return BackendKindError(
                "the kind of the service must be in front of its address, as in xapi:https://example.org"
            )
        }
        if let nearest = Suggestion.nearest(to: name, in: names) {
            return BackendKindError("there is no backend '\(name)'; did you mean '\(nearest)'?")
        }
        return BackendKindError("there is no backend '\(name)'; the backends are \(names.joined(separator: ", "))")
    }
}
