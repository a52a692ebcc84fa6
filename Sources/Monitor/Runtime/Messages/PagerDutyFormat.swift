package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// Events for PagerDuty: an incident's messages share their `dedup_key`, so that PagerDuty opens, acknowledges and
/// resolves one incident.
///
/// Limits: 1,024 characters of the summary, 255 of the key, 512 KB of an event. Plain text; PagerDuty has no markup.
///
/// Source: PagerDuty, "Send an alert event" (Events API v2).
package struct PagerDutyFormat: MessageFormat {
    /// The address of the service for accounts in the United States.
    package static let address = "https://events.pagerduty.com/v2/enqueue"

    private let url: HTTPURL
    private let key: String

    /// - Parameter key: the integration key of the service ("routing key"), which is a secret.
    package init(_ url: HTTPURL, key: String) { (self.url, self.key) = (url, key) }

    package var keepsIncidents: Bool { true }
    package var secrets: [String] { [key] }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        var event: [String: JSONValue] = [
            "routing_key": .string(key), "dedup_key": .string(MessageText.key(message.incident, 255)),
            "event_action": .string(Self.action(of: message)),
        ]
        // A resolved incident needs no more than its key.
        if message.kind != .closes {
            let content = MessageContent(message)
            event["payload"] = Self.payload(message, content)
            event["client"] = "player-monitor"
            event["client_url"] = content.incident.map { .string($0) }
            event["links"] = .array(content.links.map { ["href": .string($0.url), "text": .string($0.text)] })
        }
        return try HTTPRequest.message(.object(event), to: url)
    }

    private static func action(of message: AlertMessage) -> String {
        switch message.kind {
        case .opens, .changes, .reminds: "trigger"
        case .acknowledges: "acknowledge"
        case .closes: "resolve"
        }
    }

    private static func payload(_ message: AlertMessage, _ content: MessageContent) -> JSONValue {
        let details = Dictionary(content.facts.map { ($0.name, JSONValue.string($0.value)) }) { first, _ in first }
        let host = MessageText.plain(message.host, atMost: 255)
        return [
            "summary": .string(MessageText.fit(content.headline, 1_024)),
            "source": .string(host.isEmpty ? "player-monitor" : host), "severity": .string(message.severity.rawValue),
            "timestamp": .string(message.since.rfc3339),
            "component": .string(MessageText.plain(message.items.first?.stream ?? "", atMost: 255)),
            "group": .string(host), "class": .string(MessageText.plain(message.alert, atMost: 255)),
            "custom_details": .object(
                details.merging(["Affected": .array(content.streamLines.map { .string($0) })]) { first, _ in first }
            ),
        ]
    }
}
