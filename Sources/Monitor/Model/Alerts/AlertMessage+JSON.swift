internal import Instrument
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

extension AlertMessage {
    /// The body of the webhook, and the form in which the queue keeps a message.
    package var json: JSONValue {
        [
            "version": 1, "id": .string(id), "status": .string(isFiring ? "firing" : "resolved"),
            "kind": .string(kind.rawValue), "incident": .string(incident), "severity": .string(severity.rawValue),
            "title": .string(title), "text": .string(text), "alert": .string(alert), "condition": .string(condition),
            "host": .string(host),
            "reason": .string(reason), "since": .string(since.rfc3339), "ended": .time(ended),
            "duration": .double(Double(duration.milliseconds) / 1_000), "link": .text(link), "runbook": .text(runbook),
            "by": .text(by), "note": .text(note), "sent": .string(sent.rfc3339), "streamCount": .int(streamCount),
            "omittedStreams": .int(streamCount - items.count), "streams": .array(items.map(\.json)),
            "changes": .array(changes.map(\.json)),
        ]
    }

    /// Reads the body of a webhook, also one that an earlier version has queued; nil for any other value.
    package init?(_ json: JSONValue) {
        guard json["version"]?.int == 1, let alert = json["alert"]?.string, let status = json["status"]?.string,
            let sent = json["sent"]?.time
        else { return nil }
        let kind = json["kind"]?.string.flatMap { Kind(rawValue: $0) }
        self.init(
            alert: alert,
            host: json["host"]?.string ?? "",
            reason: json["reason"]?.string ?? "",
            kind: kind ?? (status == "resolved" ? .closes : .opens)
        )
        condition = json["condition"]?.string ?? ""
        severity = json["severity"]?.string.flatMap { AlertSeverity(rawValue: $0) } ?? .critical
        (incident, title) = (json["incident"]?.string ?? "", json["title"]?.string ?? "")
        text = json["text"]?.string ?? ""
        (link, runbook) = (json["link"]?.string, json["runbook"]?.string)
        changes = (json["changes"]?.elements ?? []).prefix(Incident.mostChanges).compactMap { StreamChange($0) }
        (by, note) = (json["by"]?.string, json["note"]?.string)
        (self.sent, ended) = (sent, json["ended"]?.time)
        for item in json["streams"]?.elements?.prefix(Self.mostStreams) ?? [] {
            if let item = Item(item, orSince: sent) { add(item) }
        }
        since = json["since"]?.time ?? since
        seal()
        id = json["id"]?.string ?? id
        streamCount = max(items.count, json["streamCount"]?.int ?? 0)
    }
}

extension AlertMessage.Item {
    fileprivate var json: JSONValue {
        [
            "name": .string(stream), "address": .text(address.isEmpty ? nil : address),
            "labels": .object(labels.mapValues { .string($0) }),
            "value": value.flatMap { $0.isFinite ? JSONValue.double($0) : nil } ?? .null,
            "since": .string(since.rfc3339),
            "events": .array(
                events.map { ["time": .string($0.time.rfc3339), "kind": .string($0.kind), "text": .string($0.text)] }
            ),
        ]
    }

    fileprivate init?(_ json: JSONValue, orSince sent: WallTime) {
        guard let name = json["name"]?.string else { return nil }
        self.init(stream: name, address: json["address"]?.string ?? "", since: json["since"]?.time ?? sent)
        if case .object(let members)? = json["labels"] { labels = members.compactMapValues(\.string) }
        value = json["value"]?.number
        events = (json["events"]?.elements ?? []).compactMap { event in
            guard let time = event["time"]?.time, let kind = event["kind"]?.string, let text = event["text"]?.string
            else { return nil }
            return LogEntry(time: time, kind: kind, text: text)
        }
    }
}

extension JSONValue {
    fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    fileprivate static func time(_ time: WallTime?) -> JSONValue { text(time?.rfc3339) }

    fileprivate var time: WallTime? { string.flatMap { WallTime(rfc3339: $0) } }
}
