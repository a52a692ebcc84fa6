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
        let kinds = BackendConfiguration.Kind.known.map(\.description)
        // A plain name stands for a kind without settings.
        if case .scalar(let text, _) = value.content, BackendConfiguration.Kind.plain.map(\.description).contains(text)
        {
            return BackendConfiguration(kind: .init(text), place: value.place)
        }
        guard let members = map(value, "The backend `\(name.excerpt())`", kinds + ["credentials", "rotate", "keep"])
        else {
            return nil
        }
        let given = kinds.filter { members[$0] != nil }
        guard given.count == 1, let kind = given.first, let target = members[kind] else {
            let found = given.isEmpty ? "none" : given.map { "`\($0)`" }.joined(separator: " and ")
            report(
                value.place,
                "The backend `\(name.excerpt())` must have exactly one kind (found \(found)).\(given.isEmpty ? Suggestion.sentence(for: "", in: kinds) : "")"
            )
            return nil
        }
        var backend = BackendConfiguration(kind: .init(kind), place: value.place)
        let isFile = BackendConfiguration.Kind.files.contains(backend.kind)
        if isFile {
            guard let path = text(target, kind) else { return nil }
            backend.path = path
        } else if BackendConfiguration.Kind.services.contains(backend.kind) {
            guard let url = url(target, kind), isForm(url.secretText, of: backend.kind, at: target.place) else {
                return nil
            }
            backend.url = url
        } else if BackendConfiguration.Kind.accounts.contains(backend.kind) {
            guard let account = text(target, kind), isForm(account, of: backend.kind, at: target.place) else {
                return nil
            }
            backend.account = account
        }
        if members["credentials"] == nil, BackendConfiguration.Kind.credentialed.contains(backend.kind) {
            report(
                value.place,
                "A backend of kind `\(kind)` must have `credentials`; add `credentials: { env: NAME }` or `{ file: PATH }`."
            )
        }
        if let value = members["credentials"] {
            if backend.url == nil, !BackendConfiguration.Kind.protectedAccounts.contains(backend.kind) {
                report(
                    value.place,
                    "`credentials` must stand beside a service (found a backend of kind `\(kind)`); remove it."
                )
            } else {
                backend.credentials = secret(value, "credentials")
            }
        }
        if let value = members["rotate"] { backend.rotation = size(value, isFile, kind) }
        if let value = members["keep"] {
            if isFile { backend.retention = duration(value, "keep") } else { refuse("keep", value, kind) }
        }
        return backend
    }

    /// Whether an address has the form that its kind needs; reports the form otherwise. The address may hold secrets,
    /// and is not repeated.
    private mutating func isForm(
        _ address: String,
        of kind: BackendConfiguration.Kind,
        at place: ConfigurationPlace
    ) -> Bool {
        if isAddress(kind, address) { return true }
        report(place, "`\(kind)` must be \(kind.addressForm).")
        return false
    }

    private mutating func refuse(_ name: String, _ value: ConfigurationValue, _ kind: String) {
        report(value.place, "`\(name)` must stand beside `file` (found a backend of kind `\(kind)`); remove it.")
    }

    private mutating func size(_ value: ConfigurationValue, _ isFile: Bool, _ kind: String) -> Int64? {
        guard isFile else {
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

    mutating func readReceivers(_ value: ConfigurationValue) {
        guard let members = named(value) else {
            return report(value.place, "`notify` must be a mapping of names (found \(value.kindName)).")
        }
        for member in members {
            guard let parts = map(member.value, "`\(member.key.excerpt())`", ["webhook", "secret"]) else { continue }
            guard let webhook = parts["webhook"] else {
                report(member.place, "`\(member.key.excerpt())` must have a `webhook`; add its URL.")
                continue
            }
            guard let url = url(webhook, "webhook") else { continue }
            let secret = parts["secret"].flatMap { self.secret($0, "secret") }
            configuration.receivers[member.key] = AlertReceiver(webhook: url, secret: secret, place: member.place)
        }
    }

    mutating func readAlerts(_ value: ConfigurationValue) {
        var known: [String: ConfigurationPlace] = [:]
        for element in list(value, "alerts") {
            guard let members = map(element, "An alert", ["name", "when", "for", "keep", "while", "to"]) else {
                continue
            }
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
            guard let condition else { continue }
            configuration.alerts.append(
                AlertConfiguration(
                    name: name,
                    condition: condition,
                    delay: delay ?? .zero,
                    keep: keep,
                    keepWhile: keepWhile,
                    receivers: receivers,
                    place: element.place
                )
            )
        }
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
