internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentText

extension ConfigurationReader {
    /// The members of a mapping whose keys are names that the file chooses.
    private func named(_ value: ConfigurationValue) -> [ConfigurationValue.Member]? {
        if case .map(let members) = value.content { return members }
        return nil
    }

    mutating func readBackends(_ value: ConfigurationValue) {
        guard let members = named(value) else {
            return report(value.place, "`backends` must be a mapping of names (found \(value.kindName)).")
        }
        for member in members {
            if Self.builtInBackends.contains(member.key) {
                report(member.place, "The name `\(member.key)` is built in; choose another name.")
            } else if let backend = backend(member.value, member.key) {
                configuration.backends[member.key] = backend
            }
        }
    }

    private mutating func backend(_ value: ConfigurationValue, _ name: String) -> BackendConfiguration? {
        // A plain name stands for a kind without settings.
        if case .scalar(let text, _) = value.content, let kind = kinds.kind(named: text), kind.address == .none {
            return chosen(kind, nil, at: value.place).map { BackendConfiguration(backend: $0, place: value.place) }
        }
        let keys = kinds.names + ["credentials", "rotate", "keep"]
        guard let members = map(value, "The backend `\(name.excerpt())`", keys) else { return nil }
        let given = kinds.all.filter { members[$0.name] != nil }
        guard given.count == 1, let kind = given.first, let target = members[kind.name] else {
            let found = given.isEmpty ? "none" : given.map { "`\($0.name)`" }.joined(separator: " and ")
            report(
                value.place,
                "The backend `\(name.excerpt())` must have exactly one kind (found \(found)).\(given.isEmpty ? Suggestion.sentence(for: "", in: kinds.names) : "")"
            )
            return nil
        }
        guard let address = address(target, of: kind),
            let chosen = chosen(kind, address.isEmpty ? nil : address, at: target.place)
        else { return nil }
        var backend = BackendConfiguration(backend: chosen, place: value.place)
        if let value = members["credentials"] {
            // The address of a service may be a URL whose service has no credentials.
            if kind.credentials == nil, kind.address.content != .url {
                report(
                    value.place,
                    "`credentials` must stand beside a service (found a backend of kind `\(kind.name)`); remove it."
                )
            } else {
                backend.credentials = secret(value, "credentials")
            }
        } else if kind.credentials?.isRequired == true {
            report(
                value.place,
                "A backend of kind `\(kind.name)` must have `credentials`; add `credentials: { env: NAME }` or `{ file: PATH }`."
            )
        }
        if let value = members["rotate"] { backend.rotation = size(value, kind) }
        if let value = members["keep"] {
            if kind.address == .path {
                backend.retention = duration(value, "keep")
            } else {
                refuse("keep", value, kind)
            }
        }
        return backend
    }

    /// The address of a kind; empty for a kind without one.
    private mutating func address(_ value: ConfigurationValue, of kind: BackendKind) -> String? {
        switch kind.address.content {
        case .nothing: ""
        case .url: url(value, kind.name)?.secretText
        case .path, .text: text(value, kind.name)
        }
    }

    /// A backend at an address. Reports an address that has not the form that its kind needs. The address may hold
    /// secrets, and is not repeated.
    private mutating func chosen(
        _ kind: BackendKind,
        _ address: String?,
        at place: ConfigurationPlace
    ) -> ChosenBackend? {
        do throws(BackendKindError) { return try kind.backend(at: address) } catch {
            report(place, "`\(kind.name)` must be \(kind.address.expectation).")
            return nil
        }
    }

    private mutating func refuse(_ name: String, _ value: ConfigurationValue, _ kind: BackendKind) {
        let files = kinds.all.filter { $0.address == .path }.map { "`\($0.name)`" }.joined(separator: " or ")
        report(
            value.place,
            "`\(name)` must stand beside \(files) (found a backend of kind `\(kind.name)`); remove it."
        )
    }

    private mutating func size(_ value: ConfigurationValue, _ kind: BackendKind) -> Int64? {
        guard kind.address == .path else {
            refuse("rotate", value, kind)
            return nil
        }
        if case .scalar(let text, _) = value.content, let size = DurationText.size(text), size >= 1_024 { return size }
        report(
            value.place,
            "`rotate` must be a size of at least 1 KiB such as `100MB` or `64MiB` (found \(value.kindName))."
        )
        return nil
    }

    private static let alertKeys = ["name", "when", "for", "keep", "while", "to", "severity", "runbook"]

    mutating func readAlerts(_ value: ConfigurationValue) {
        var known: [String: ConfigurationPlace] = [:]
        for element in list(value, "alerts") {
            guard let members = map(element, "An alert", Self.alertKeys) else { continue }
            for key in ["name", "when", "to"] where members[key] == nil {
                report(element.place, "An alert must have `\(key)`.")
            }
            let condition = members["when"].flatMap { expression($0) }
            var receivers: [String] = []
            if let to = members["to"] {
                let names = names(to, "to")
                references += names.map { ("receiver", $0.name, $0.place) }
                receivers = names.map(\.name)
                if receivers.isEmpty, case .list = to.content {
                    report(to.place, "`to` must name at least one receiver of `notify`.")
                }
            }
            let delay = members["for"].flatMap { duration($0, "for") }
            let keep = members["keep"].flatMap { duration($0, "keep") }
            let keepWhile = members["while"].flatMap { expression($0, "while") }
            guard let name = members["name"].flatMap({ text($0, "name") }) else { continue }
            if let first = known[name] {
                report(
                    element.place,
                    "The name `\(name.excerpt())` must be unique (also at \(first)); rename one of them."
                )
                continue
            }
            known[name] = element.place
            let severity = members["severity"].flatMap { self.severity($0) }
            let runbook = members["runbook"].flatMap { url($0, "runbook") }
            guard let condition else { continue }
            configuration.alerts.append(
                AlertConfiguration(
                    name: name,
                    condition: condition,
                    delay: delay ?? .zero,
                    keep: keep,
                    keepWhile: keepWhile,
                    receivers: receivers,
                    severity: severity ?? .critical,
                    runbook: runbook,
                    place: element.place
                )
            )
        }
    }

    private mutating func severity(_ value: ConfigurationValue) -> AlertSeverity? {
        if case .scalar(let text, _) = value.content, let severity = AlertSeverity(rawValue: text) { return severity }
        report(value.place, "`severity` must be `critical`, `warning` or `info` (found \(value.kindName)).")
        return nil
    }

    private mutating func expression(
        _ value: ConfigurationValue,
        _ name: String = "when"
    ) -> AlertExpression? {
        guard let text = text(value, name) else { return nil }
        do throws(AlertExpression.Failure) {
            return try AlertExpression(text)
        } catch {
            var place = value.place
            // Inside quotes the text begins one column later.
            if case .scalar(_, let isPlain) = value.content { place.column += error.offset + (isPlain ? 0 : 1) }
            report(place, error.message)
            return nil
        }
    }
}
