package import Instrument
internal import InstrumentHTTP
package import InstrumentWatch

/// A message about an incident: one alert of one stream, or of all streams that fire for the same reason.
package struct AlertMessage: Hashable, Sendable {
    /// The number of streams that a message lists; further ones are counted.
    package static let mostStreams = 100

    /// What happened to the incident.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The incident begins.
        case opens
        /// Somebody takes the incident.
        case acknowledges
        /// Streams, severity or cause are others now.
        case changes
        /// The incident lasts.
        case reminds
        /// The incident is over.
        case closes
    }

    /// A stream of the message.
    package struct Item: Hashable, Sendable {
        package var stream: String
        /// The address without user, password and query; empty if it is unknown.
        package var address: String
        package var labels: [String: String]
        package var value: Double?
        package var since: WallTime
        package var events: [LogEntry]

        package init(
            stream: String,
            address: String = "",
            labels: [String: String] = [:],
            value: Double? = nil,
            since: WallTime,
            events: [LogEntry] = []
        ) {
            (self.stream, self.address, self.labels) = (stream, address, labels)
            (self.value, self.since, self.events) = (value, since, events)
        }
    }

    /// The same for the same alert, state and streams: a receiver that gets a message twice knows it by its identifier.
    package internal(set) var id = ""
    package var kind: Kind
    package var alert: String
    package var condition = ""
    package var receivers: [String] = []
    package var host: String
    package var reason: String
    /// The identifier of the incident, which all messages about it share.
    package var incident = ""
    package var severity = AlertSeverity.critical
    /// The cause in words.
    package var title = ""
    /// The cause in a sentence, with its begin and its consequences; empty if there is no more than the title.
    package var text = ""
    /// The address of the incident on the monitor's page.
    package var link: String?
    /// The address of the instructions for the person who gets the message.
    package var runbook: String?
    /// When the incident began.
    package var since = WallTime(milliseconds: 0)
    /// When the incident ended; nil while it lasts.
    package var ended: WallTime?
    /// The person who acknowledged the incident.
    package var by: String?
    /// A remark of that person.
    package var note: String?
    /// What became different in the streams before the incident, the latest first.
    package var changes: [StreamChange] = []
    package var sent = WallTime(milliseconds: 0)
    package internal(set) var items: [Item] = []
    package internal(set) var streamCount = 0
    private var identity = ""
    /// How often the steps of the escalation have begun again.
    var round = 0

    package var isFiring: Bool { kind != .closes }

    /// How long the incident has lasted, or did last.
    package var duration: Duration {
        .milliseconds(max(0, (ended ?? sent).milliseconds.saturatingSubtract(since.milliseconds)))
    }

    /// Creates a message without streams; ``add(_:)`` and ``seal()`` complete it.
    package init(alert: String, host: String, reason: String, kind: Kind) {
        (self.alert, self.host, self.reason, self.kind) = (alert, host, reason, kind)
    }

    /// Creates a message about an alert of the configuration.
    package init(alert: AlertConfiguration, host: String, reason: String, isFiring: Bool) {
        self.init(alert: alert.name, host: host, reason: reason, kind: isFiring ? .opens : .closes)
        (condition, receivers, severity) = (alert.condition.text, alert.receivers, alert.severity)
        runbook = alert.runbook?.secretText
    }

    /// Adds a stream. Beyond the limit, the message counts streams and does not list them.
    package mutating func add(_ item: Item) {
        streamCount += 1
        identity += "\(item.stream)\n\(item.since.milliseconds)\n"
        since = streamCount == 1 ? item.since : min(since, item.since)
        if items.count < Self.mostStreams { items.append(item) }
    }

    /// Completes the message once its streams are added and its other members are set.
    package mutating func seal() {
        var text = "\(alert)\n\(isFiring)\n" + identity
        switch kind {
        // Before a crash and after it, the same message has the same identifier, whenever it is made.
        case .opens, .closes:
            // An incident of the monitor itself has no streams, which would distinguish it from an earlier one.
            if streamCount == 0 { text += "\(incident)\n\(since.milliseconds)\n" }
            if round > 0 { text += "round \(round)\n" }
        case .acknowledges, .changes, .reminds: text += "\(kind)\n\(sent.milliseconds)\n"
        }
        id = String(SHA256.hexadecimal(of: text.utf8).prefix(32))
        if incident.isEmpty {
            incident = String(SHA256.hexadecimal(of: "\(alert)\n\(host)\n\(reason)".utf8).prefix(32))
        }
        if title.isEmpty { title = reason.isEmpty ? alert : "\(alert): \(reason)" }
        if kind == .closes, ended == nil { ended = sent }
        if streamCount == 0, since.milliseconds == 0 { since = sent }
    }

    /// The labels that all listed streams share.
    package var sharedLabels: [String: String] {
        guard let first = items.first else { return [:] }
        return items.dropFirst().reduce(first.labels) { shared, item in
            shared.filter { item.labels[$0.key] == $0.value }
        }
    }

    /// The message as one line for people.
    package var line: String {
        let names = items.prefix(5).map(\.stream).joined(separator: ", ")
        let more = streamCount > 5 ? " and \(streamCount - 5) more" : ""
        // An incident about the monitor itself has no host, and an alert may have no reason.
        let place = [host, reason].filter { !$0.isEmpty }.joined(separator: ", ")
        let why = [condition, place].filter { !$0.isEmpty }.joined(separator: "; ")
        return "\(isFiring ? "FIRING" : "resolved") \(alert): \(names)\(more) (\(why))"
    }
}
