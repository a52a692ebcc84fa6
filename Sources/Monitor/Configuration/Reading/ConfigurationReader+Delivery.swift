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
                reportRepeated(name, at: element.place, first: first)
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
            let expression = try AlertExpression(text)
            for case let rule? in expression.conditions.map({ $0.labels["rule"] }) where !Self.findings.contains(rule) {
                report(
                    value.place,
                    "Unknown rule `\(rule.excerpt())` in `\(name)`.\(Suggestion.sentence(for: rule, in: Self.findings))"
                )
            }
            return expression
        } catch {
            var place = value.place
            // Inside quotes the text begins one column later.
            if case .scalar(_, let isPlain) = value.content { place.column += error.offset + (isPlain ? 0 : 1) }
            report(place, error.message)
            return nil
        }
    }

    /// The keys of the services, each with the keys that may stand beside it.
    private static let receiverKeys: [(service: String, others: [String])] = [
        ("webhook", ["secret"]), ("slack", []), ("teams", []), ("pagerduty", ["url"]), ("opsgenie", ["url"]),
        ("telegram", ["chat", "topic", "url"]), ("alertmanager", ["credentials", "token"]),
        ("email", ["from", "server", "tls", "user", "password", "ca"]),
    ]
    private static let mostRecipients = 50

    mutating func readReceivers(_ value: ConfigurationValue) {
        guard case .map(let members) = value.content else {
            return report(value.place, "`notify` must be a mapping of names (found \(value.kindName)).")
        }
        for member in members {
            if let service = service(member) {
                configuration.receivers[member.key] = AlertReceiver(service: service, place: member.place)
            }
        }
    }

    private mutating func service(_ member: ConfigurationValue.Member) -> AlertService? {
        let services = Self.receiverKeys.map(\.service)
        guard case .map(let given) = member.value.content else {
            report(member.value.place, "`\(member.key.excerpt())` must be a mapping (found \(member.value.kindName)).")
            return nil
        }
        let found = Self.receiverKeys.filter { known in given.contains { $0.key == known.service } }
        guard found.count == 1, let known = found.first else {
            let names = found.isEmpty ? "none" : found.map { "`\($0.service)`" }.joined(separator: " and ")
            let word = found.isEmpty ? given.first?.key ?? "" : ""
            report(
                member.place,
                "The receiver `\(member.key.excerpt())` must have exactly one service (found \(names)).\(found.isEmpty ? Suggestion.sentence(for: word, in: services) : "")"
            )
            return nil
        }
        guard let parts = map(member.value, "`\(member.key.excerpt())`", [known.service] + known.others),
            let value = parts[known.service]
        else { return nil }
        return service(known.service, value, parts)
    }

    private mutating func service(
        _ name: String,
        _ value: ConfigurationValue,
        _ parts: [String: ConfigurationValue]
    ) -> AlertService? {
        switch name {
        case "webhook":
            guard let url = url(value, name) else { return nil }
            return .webhook(url, secret: parts["secret"].flatMap { secret($0, "secret") })
        case "slack": return address(value, name).map { .slack($0) }
        case "teams": return address(value, name).map { .teams($0) }
        case "pagerduty":
            return secret(value, name).map { .pagerDuty(key: $0, parts["url"].flatMap { url($0, "url") }) }
        case "opsgenie": return secret(value, name).map { .opsgenie(key: $0, parts["url"].flatMap { url($0, "url") }) }
        case "telegram": return telegram(value, parts)
        case "alertmanager": return alertmanager(value, parts)
        default: return mail(value, parts).map { .email($0) }
        }
    }

    /// `{ env: NAME }`, `{ file: PATH }`, or a URL: the addresses of these services are secrets, but a URL may also be
    /// that of a gateway.
    private mutating func address(_ value: ConfigurationValue, _ name: String) -> ReceiverAddress? {
        if case .map = value.content { return secret(value, name).map { .secret($0) } }
        return url(value, name).map { .url($0) }
    }

    private mutating func telegram(
        _ value: ConfigurationValue,
        _ parts: [String: ConfigurationValue]
    ) -> AlertService? {
        let token = secret(value, "telegram")
        guard let chat = parts["chat"] else {
            report(
                value.place,
                "`telegram` must have a `chat` beside it; add the number of the chat, or `@` and a channel."
            )
            return nil
        }
        let topic = parts["topic"].flatMap { count($0, "topic", 1...Int(Int32.max)) }
        let url = parts["url"].flatMap { self.url($0, "url") }
        guard let text = text(chat, "chat"), let token else { return nil }
        guard
            Int(text) != nil
                || text.hasPrefix("@") && text.utf8.count > 1 && text.utf8.dropFirst().allSatisfy(\.isNameByte)
        else {
            report(
                chat.place,
                "`chat` must be the number of a chat such as `-1001234567890`, or a channel such as `\"@status\"` (found \(chat.kindName))."
            )
            return nil
        }
        return .telegram(token: token, chat: text, topic: topic, url)
    }

    private mutating func alertmanager(
        _ value: ConfigurationValue,
        _ parts: [String: ConfigurationValue]
    ) -> AlertService? {
        let (credentials, token) = (parts["credentials"], parts["token"])
        if let token, credentials != nil {
            report(token.place, "`alertmanager` must have `credentials` or `token` beside it, not both; remove one.")
        }
        guard let url = url(value, "alertmanager") else { return nil }
        return .alertmanager(
            url,
            credentials: credentials.flatMap { secret($0, "credentials") },
            token: token.flatMap { secret($0, "token") }
        )
    }

    private mutating func mail(
        _ value: ConfigurationValue,
        _ parts: [String: ConfigurationValue]
    ) -> MailSettings? {
        let recipients = names(value, "email").compactMap { mailAddress($0.name, "email", $0.place) }
        if case .list(let list) = value.content, list.isEmpty || list.count > Self.mostRecipients {
            report(value.place, "`email` must have 1 to \(Self.mostRecipients) addresses (found \(list.count)).")
            return nil
        }
        for key in ["from", "server"] where parts[key] == nil {
            report(value.place, "`email` must have `\(key)` beside it.")
        }
        let sender = parts["from"].flatMap { from in text(from, "from").flatMap { mailAddress($0, "from", from.place) }
        }
        let server = parts["server"].flatMap { mailServer($0) }
        let encryption = server.flatMap { self.encryption(parts["tls"], $0.encryption) }
        let user = parts["user"].flatMap { text($0, "user") }
        let password = parts["password"].flatMap { secret($0, "password") }
        if (parts["user"] == nil) != (parts["password"] == nil) {
            report(value.place, "`user` and `password` must stand together (found one of them); add the other one.")
        }
        if encryption == MailSettings.Encryption.none, let password = parts["password"] {
            report(
                password.place,
                "A password must not be sent without TLS; remove `tls: none`, or `user` and `password`."
            )
        }
        guard !recipients.isEmpty, let sender, let server, let encryption else { return nil }
        return MailSettings(
            recipients: recipients,
            sender: sender,
            server: server.address,
            encryption: encryption,
            user: user,
            password: password,
            authorities: parts["ca"].flatMap { text($0, "ca") }
        )
    }

    private mutating func mailAddress(_ text: String, _ name: String, _ place: ConfigurationPlace) -> MailAddress? {
        if let address = MailAddress(text) { return address }
        report(place, "`\(name)` must be an address such as `ops@example.org` (found `\(text.excerpt())`).")
        return nil
    }

    /// `smtps://HOST`, `smtp://HOST:PORT` or `HOST`.
    private mutating func mailServer(
        _ value: ConfigurationValue
    ) -> (address: HostPort, encryption: MailSettings.Encryption)? {
        guard let text = text(value, "server") else { return nil }
        let isImplicit = text.hasPrefix("smtps://")
        let rest = isImplicit ? text.dropFirst(8) : text.hasPrefix("smtp://") ? text.dropFirst(7) : Substring(text)
        // Submission has its own port (RFC 6409), and with TLS from the first byte another one (RFC 8314).
        guard let address = HostPort(rest, defaultPort: isImplicit ? 465 : 587) else {
            report(
                value.place,
                "`server` must be `smtp://HOST:PORT` or `smtps://HOST:PORT`, without user and password (found something else)."
            )
            return nil
        }
        return (address, isImplicit ? .implicit : .startTLS)
    }

    private mutating func encryption(
        _ value: ConfigurationValue?,
        _ usual: MailSettings.Encryption
    ) -> MailSettings.Encryption? {
        guard let value else { return usual }
        switch value.content {
        case .scalar("required", _): return usual
        case .scalar("none", _) where usual == .startTLS: return MailSettings.Encryption.none
        case .scalar("none", _):
            report(value.place, "`tls: none` must not stand beside `smtps://`; write `smtp://`, or remove `tls`.")
        default: report(value.place, "`tls` must be `required` or `none` (found \(value.kindName)).")
        }
        return nil
    }
}
