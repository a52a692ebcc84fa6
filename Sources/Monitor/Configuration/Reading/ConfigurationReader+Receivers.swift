internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentText

extension ConfigurationReader {
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
