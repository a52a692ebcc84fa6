internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentMonitorRuntime
internal import InstrumentText
internal import InstrumentTransport
internal import InstrumentWatch

extension WatchBackends {
    /// Makes the receivers of alerts, or throws ``WatchSetupError`` for the first that cannot be made.
    func receivers(of configuration: WatchConfiguration) throws(WatchSetupError) -> [any Backend] {
        var made: [any Backend] = []
        if isDryRun { return made }
        for (name, receiver) in configuration.receivers.sorted(by: { $0.key < $1.key }) {
            made.append(try self.receiver(name, receiver))
        }
        return made
    }

    func receiver(_ name: String, _ receiver: AlertReceiver) throws(WatchSetupError) -> any Backend {
        let sender = try sender(name, receiver)
        if case .alertmanager = receiver.service { resender.add(name, sender) }
        return ReceiverBackend(receiver: name, sender: sender, health: health)
    }

    /// Forgets the receivers that a new configuration no longer has, or has with another service.
    func keepReceivers(of configuration: WatchConfiguration) {
        health.keep(configuration.receivers.keys)
        let resent = configuration.receivers.filter { if case .alertmanager = $0.value.service { true } else { false } }
        resender.keep(Set(resent.keys))
    }

    /// Makes what sends messages to a receiver, or throws ``WatchSetupError`` if a secret cannot be read. Secrets in
    /// files are read again for each message.
    func sender(_ name: String, _ receiver: AlertReceiver) throws(WatchSetupError) -> any MessageSender {
        let secrets = ReceiverSecrets()
        let first = try sender(name, receiver, secrets)
        // The sender of mails reads its password itself, because it knows which recipients have a mail already.
        if case .email = receiver.service { return first }
        guard receiver.secrets.contains(where: \.mayChange) else { return first }
        return RenewingSender(keepsIncidents: first.keepsIncidents) { () throws(UnreadableSecret) in
            do throws(WatchSetupError) { return try sender(name, receiver, secrets) } catch {
                throw UnreadableSecret(error.description)
            }
        }
    }

    private func sender(
        _ name: String,
        _ receiver: AlertReceiver,
        _ secrets: ReceiverSecrets
    ) throws(WatchSetupError) -> any MessageSender {
        let read = { (secret: SecretReference) throws(WatchSetupError) -> String in
            try secrets.read(secret, "\(receiver.place): the secret of `\(name)`")
        }
        switch receiver.service {
        case .webhook(let url, let secret):
            let key = try secret.map(read)
            return http(WebhookFormat(url, key: key.map { Array($0.utf8) }))
        case .slack(let address): return http(SlackFormat(try url(address, name, receiver.place, secrets)))
        case .teams(let address): return http(TeamsFormat(try url(address, name, receiver.place, secrets)))
        case .pagerDuty(let key, let url):
            return http(PagerDutyFormat(try Self.url(url, or: PagerDutyFormat.address), key: try read(key)))
        case .opsgenie(let key, let url):
            return http(OpsgenieFormat(try Self.url(url, or: OpsgenieFormat.address), key: try read(key)))
        case .telegram(let token, let chat, let topic, let url):
            let service = try Self.url(url, or: TelegramFormat.address)
            return http(TelegramFormat(service, token: try read(token), chat: chat, topic: topic))
        case .alertmanager(let url, let credentials, let token):
            let bearer = try token.map(read).map { "Bearer " + $0 }
            let basic = try credentials.map(read).map { "Basic " + Base64.encode(Array($0.utf8)) }
            return http(AlertmanagerFormat(url, authorization: basic ?? bearer))
        case .email(let settings):
            _ = try settings.password.map(read)
            return try mail(settings, at: receiver.place) { () throws(UnreadableSecret) in
                do throws(WatchSetupError) {
                    return try settings.password.map { (secret) throws(WatchSetupError) in
                        try secrets.read(secret, "\(receiver.place): the secret of `\(name)`")
                    }
                } catch { throw UnreadableSecret(error.description) }
            }
        }
    }

    private func http(_ format: some MessageFormat) -> HTTPSender { HTTPSender(format, transport: transport) }

    private func mail(
        _ settings: MailSettings,
        at place: ConfigurationPlace,
        _ password: @escaping @Sendable () throws(UnreadableSecret) -> String?
    ) throws(WatchSetupError) -> any MessageSender {
        #if canImport(Darwin)
        throw WatchSetupError(description: "\(place): `email` needs libcurl, which this platform does not have.")
        #else
        return MailSender(
            settings,
            transport: CurlMailTransport(allowsPrivateAddresses: !refusesPrivateAddresses),
            password: password
        )
        #endif
    }

    /// The address, which a variable or a file may hold.
    private func url(
        _ address: ReceiverAddress,
        _ name: String,
        _ place: ConfigurationPlace,
        _ secrets: ReceiverSecrets
    ) throws(WatchSetupError) -> HTTPURL {
        switch address {
        case .url(let url): return url
        case .secret(let secret):
            let text = try secrets.read(secret, "\(place): the address of `\(name)`")
            guard let url = try? HTTPURL(text) else {
                // The text is a secret and is not repeated.
                throw WatchSetupError(description: "\(place): the address of `\(name)` must be an http or https URL")
            }
            return url
        }
    }

    /// The configured address, or the usual one of a service.
    private static func url(_ url: HTTPURL?, or text: String) throws(WatchSetupError) -> HTTPURL {
        if let url { return url }
        guard let url = try? HTTPURL(text) else {
            throw WatchSetupError(description: "\(text) is no http or https URL")
        }
        return url
    }
}
