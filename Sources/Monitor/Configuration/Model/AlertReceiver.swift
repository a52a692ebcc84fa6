package import InstrumentBackendKinds
package import InstrumentHTTP
package import InstrumentText

/// A receiver of alerts.
package struct AlertReceiver: Hashable, Sendable {
    /// The service of the receiver, with its settings.
    package var service: AlertService
    /// The receiver's place in the configuration.
    package var place: ConfigurationPlace

    package init(service: AlertService, place: ConfigurationPlace) { (self.service, self.place) = (service, place) }
}

/// A service that takes messages about alerts.
package enum AlertService: Hashable, Sendable {
    /// The address of a webhook; the secret signs the messages (HMAC), nil sends them without a signature.
    case webhook(HTTPURL, secret: SecretReference?)
    case slack(ReceiverAddress)
    case teams(ReceiverAddress)
    case pagerDuty(key: SecretReference, HTTPURL?)
    case opsgenie(key: SecretReference, HTTPURL?)
    case telegram(token: SecretReference, chat: String, topic: Int?, HTTPURL?)
    case alertmanager(HTTPURL, credentials: SecretReference?, token: SecretReference?)
    case email(MailSettings)

    /// The key of the configuration.
    package var key: String {
        switch self {
        case .webhook: "webhook"
        case .slack: "slack"
        case .teams: "teams"
        case .pagerDuty: "pagerduty"
        case .opsgenie: "opsgenie"
        case .telegram: "telegram"
        case .alertmanager: "alertmanager"
        case .email: "email"
        }
    }
}

/// An address that is a secret for some services: in the configuration, or where the configuration says.
package enum ReceiverAddress: Hashable, Sendable {
    case url(HTTPURL)
    case secret(SecretReference)
}

/// The settings of a receiver by e-mail.
package struct MailSettings: Hashable, Sendable {
    /// How the connection to the server is encrypted.
    package enum Encryption: Hashable, Sendable { case implicit, startTLS, none }

    package var recipients: [MailAddress]
    package var sender: MailAddress
    package var server: HostPort
    package var encryption: Encryption
    package var user: String?
    package var password: SecretReference?
    /// A file of certificates in PEM that are trusted in addition to the system's.
    package var authorities: String?

    package init(
        recipients: [MailAddress],
        sender: MailAddress,
        server: HostPort,
        encryption: Encryption,
        user: String? = nil,
        password: SecretReference? = nil,
        authorities: String? = nil
    ) {
        (self.recipients, self.sender, self.server, self.encryption) = (recipients, sender, server, encryption)
        (self.user, self.password, self.authorities) = (user, password, authorities)
    }
}
