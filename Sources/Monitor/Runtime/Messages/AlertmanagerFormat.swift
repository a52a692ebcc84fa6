package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// Alerts for Alertmanager, one for each stream.
///
/// An alert that fires ends by itself after ``lifetime`` unless it is sent again, so that Alertmanager closes the
/// alerts of a monitor that is gone. ``MessageResender`` sends them again.
///
/// Source: Prometheus, "Alerts API" and Alertmanager's `api/v2/openapi.yaml` (`POST /api/v2/alerts`).
package struct AlertmanagerFormat: MessageFormat {
    /// Four times the interval at which alerts are sent again, as Prometheus does it.
    package static let lifetime = Duration.seconds(240)
    /// Labels that a stream's labels must not replace.
    private static let reserved: Set<String> = ["alertname", "stream", "severity"]

    private let url: HTTPURL
    private let authorization: String?

    /// - Parameters:
    ///   - url: the address of Alertmanager; `/api/v2/alerts` is added.
    ///   - authorization: the value of the `Authorization` header; nil for none.
    package init(_ url: HTTPURL, authorization: String? = nil) { (self.url, self.authorization) = (url, authorization) }

    package var keepsIncidents: Bool { true }
    package var secrets: [String] { authorization.map { [$0, String($0.drop { $0 != " " }.dropFirst())] } ?? [] }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        // Behind a path, as `--web.route-prefix` and services that host Alertmanager have it.
        let path = url.path + (url.path.hasSuffix("/") ? "" : "/") + "api/v2/alerts"
        let content = MessageContent(message)
        return try HTTPRequest.message(
            .array(message.items.map { Self.alert($0, message, content, at: now) }),
            to: try url.resolving(path),
            authorization: authorization
        )
    }

    private static func alert(
        _ item: AlertMessage.Item,
        _ message: AlertMessage,
        _ content: MessageContent,
        at now: WallTime
    ) -> JSONValue {
        var labels: [String: JSONValue] = [:]
        for (name, value) in item.labels {
            let value = MessageText.plain(value)
            let name = labelName(name)
            if !value.isEmpty { labels[reserved.contains(name) ? "stream_" + name : name] = .string(value) }
        }
        labels["alertname"] = .string(MessageText.plain(message.alert))
        labels["stream"] = .string(MessageText.plain(item.stream))
        labels["severity"] = .string(message.severity.rawValue)
        let texts: [(String, String?)] = [
            ("summary", content.headline), ("description", content.factLines.joined(separator: "\n")),
            ("address", MessageText.plain(item.address)),
            ("cause", MessageText.plain(message.text.isEmpty ? message.reason : message.text, atMost: 600)),
            ("incident", MessageText.plain(message.incident)),
            ("runbook_url", content.runbook),
        ]
        var annotations: [String: JSONValue] = [:]
        for (name, text) in texts { if let text, !text.isEmpty { annotations[name] = .string(text) } }
        var alert: [String: JSONValue] = [
            "labels": .object(labels),
            "annotations": .object(annotations),
            "startsAt": .string(item.since.rfc3339), "endsAt": .string(end(of: item, message, at: now).rfc3339),
        ]
        alert["generatorURL"] = content.incident.map { .string($0) }
        return .object(alert)
    }

    /// Always after the begin, which Alertmanager demands.
    private static func end(of item: AlertMessage.Item, _ message: AlertMessage, at now: WallTime) -> WallTime {
        let end =
            message.isFiring
            ? now.milliseconds.saturatingAdd(Int64(lifetime.components.seconds) * 1_000)
            : min(message.ended ?? message.sent, now).milliseconds
        return WallTime(milliseconds: max(end, item.since.milliseconds.saturatingAdd(1)))
    }

    /// A name that Prometheus accepts: letters, digits and `_`, no digit first.
    private static func labelName(_ name: String) -> String {
        let bytes = name.utf8.map { $0.isLetter || $0.isDigit ? $0 : UInt8(ascii: "_") }
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.first.map { $0.isDigit } ?? true ? "_" + text : text
    }
}
