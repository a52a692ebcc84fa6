package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// Alerts for Opsgenie: an incident's messages share their alias, so that Opsgenie opens, acknowledges and closes one
/// alert.
///
/// Limits in characters: message 130, alias 512, description 15,000, entity 512, source 100, note 25,000, user 100; 20
/// tags of 50; details 8,000.
///
/// Source: Opsgenie, "Alert API" (create, acknowledge, close).
package struct OpsgenieFormat: MessageFormat {
    /// The address of the service for accounts in the United States.
    package static let address = "https://api.opsgenie.com"

    private let url: HTTPURL
    private let key: String

    /// - Parameters:
    ///   - url: the address of the service, without a path.
    ///   - key: the key of the integration, which is a secret.
    package init(_ url: HTTPURL, key: String) { (self.url, self.key) = (url, key) }

    package var keepsIncidents: Bool { true }
    package var secrets: [String] { [key] }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        let alias = MessageText.key(message.incident, 512)
        let authorization = "GenieKey " + key
        switch message.kind {
        case .opens, .changes, .reminds:
            return try .message(alert(message, alias), to: target("/v2/alerts"), authorization: authorization)
        case .acknowledges, .closes:
            let action = message.kind == .closes ? "close" : "acknowledge"
            let path = "/v2/alerts/\(PercentCoding.encoded(alias))/\(action)?identifierType=alias"
            var body: [String: JSONValue] = [
                "source": "player-monitor",
                "note": .string(MessageText.fit(MessageContent(message).text, 25_000)),
            ]
            if let by = message.by { body["user"] = .string(MessageText.fit(MessageText.plain(by), 100)) }
            return try .message(.object(body), to: target(path), authorization: authorization)
        }
    }

    private func target(_ path: String) throws(HTTPError) -> HTTPURL { try url.resolving(path) }

    private func alert(_ message: AlertMessage, _ alias: String) -> JSONValue {
        let content = MessageContent(message)
        let labels = message.sharedLabels.sorted { $0.key < $1.key }
        let tags = labels.map { MessageText.fit(MessageText.plain("\($0.key)=\($0.value)"), 50) }.prefix(20)
        var (details, length) = ([String: JSONValue](), 0)
        for fact in content.facts {
            length += fact.name.utf16.count + fact.value.utf16.count
            if length <= 8_000 { details[fact.name] = .string(fact.value) }
        }
        return [
            "message": .string(MessageText.fit(content.headline, 130)), "alias": .string(alias),
            "description": .string(MessageText.fit(content.text, 15_000)), "source": "player-monitor",
            "entity": .string(MessageText.fit(MessageText.plain(message.host), 512)),
            "priority": .string(Self.priority(of: message)), "tags": .array(tags.map { .string($0) }),
            "details": .object(details),
        ]
    }

    private static func priority(of message: AlertMessage) -> String {
        switch message.severity {
        case .critical: "P1"
        case .warning: "P3"
        case .info: "P5"
        }
    }
}
