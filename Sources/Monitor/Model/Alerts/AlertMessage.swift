package import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// A message about one alert of one stream, or of all streams that fire for the same reason.
package struct AlertMessage: Hashable, Sendable {
    /// The number of streams that a message lists; further ones are counted.
    static let mostStreams = 100

    /// A stream of the message.
    package struct Item: Hashable, Sendable {
        package var stream: String
        package var labels: [String: String]
        package var value: Double?
        package var since: WallTime
        package var events: [LogEntry]
    }

    /// The same for the same alert, state and streams: a receiver that gets a message twice knows it by its identifier.
    package private(set) var id = ""
    package let alert: String
    package let condition: String
    package let receivers: [String]
    package let host: String
    package let reason: String
    package let isFiring: Bool
    package var sent = WallTime(milliseconds: 0)
    package private(set) var items: [Item] = []
    package private(set) var streamCount = 0
    private var identity = ""

    init(alert: AlertConfiguration, host: String, reason: String, isFiring: Bool) {
        self.alert = alert.name
        condition = alert.condition.text
        receivers = alert.receivers
        (self.host, self.reason, self.isFiring) = (host, reason, isFiring)
    }

    mutating func add(_ instance: AlertEngine.Instance) {
        streamCount += 1
        identity += "\(instance.stream.name)\n\(instance.since.wallTime.milliseconds)\n"
        guard items.count < Self.mostStreams else { return }
        items.append(
            Item(
                stream: instance.stream.name,
                labels: instance.stream.labels,
                value: instance.value,
                since: instance.since.wallTime,
                events: instance.evidence
            )
        )
    }

    mutating func seal() {
        let text = "\(alert)\n\(isFiring)\n" + identity
        id = String(SHA256.hexadecimal(of: text.utf8).prefix(32))
    }

    /// The body of the webhook.
    package var json: JSONValue {
        [
            "version": 1, "id": .string(id), "status": .string(isFiring ? "firing" : "resolved"),
            "alert": .string(alert), "condition": .string(condition), "host": .string(host), "reason": .string(reason),
            "sent": .string(sent.rfc3339), "streamCount": .int(streamCount),
            "omittedStreams": .int(streamCount - items.count), "streams": .array(items.map(\.json)),
        ]
    }

    /// The message as one line for people.
    package var line: String {
        let names = items.prefix(5).map(\.stream).joined(separator: ", ")
        let more = streamCount > 5 ? " and \(streamCount - 5) more" : ""
        let why = reason.isEmpty ? "" : ", \(reason)"
        return "\(isFiring ? "FIRING" : "resolved") \(alert): \(names)\(more) (\(condition); \(host)\(why))"
    }
}

extension AlertMessage.Item {
    fileprivate var json: JSONValue {
        [
            "name": .string(stream), "labels": .object(labels.mapValues { .string($0) }),
            "value": value.flatMap { $0.isFinite ? JSONValue.double($0) : nil } ?? .null,
            "since": .string(since.rfc3339),
            "events": .array(
                events.map { ["time": .string($0.time.rfc3339), "kind": .string($0.kind), "text": .string($0.text)] }
            ),
        ]
    }
}
