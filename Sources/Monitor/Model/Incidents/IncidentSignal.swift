internal import Instrument
internal import InstrumentHTTP
internal import InstrumentWatch

/// An alert of a stream, or of an objective, that begins to fire.
package struct IncidentSignal: Hashable, Sendable {
    var alert: String
    var facts: Incident.AlertFacts
    /// The name of the stream, or of what takes its place.
    var stream: String
    var labels: [String: String]
    var host = ""
    /// The address without secrets.
    var address = ""
    var cause: StreamCause
    /// The code of the error, or the rules that are broken, as messages name them.
    var reason = ""
    /// Since when the condition holds.
    var since: Timestamp
    var value: Double?
    var events: [LogEntry] = []
    /// What became different in the stream before its fault.
    var changes: [StreamChange] = []
    /// Who plays the stream; nil for this monitor.
    var origin: StreamOrigin?
    /// Whether a stream is in trouble, and not something of the monitor itself.
    var isStream = false

    /// Creates a signal of an alert that is not about one stream.
    init(
        alert: String,
        facts: Incident.AlertFacts,
        stream: String,
        labels: [String: String],
        cause: StreamCause,
        since: Timestamp
    ) {
        (self.alert, self.facts, self.stream) = (alert, facts, stream)
        (self.labels, self.cause, self.since) = (labels, cause, since)
    }

    /// Creates a signal; without a cause, the reason takes its place.
    init(
        _ alert: AlertConfiguration,
        _ stream: WatchedStream,
        cause: StreamCause?,
        reason: String,
        since: Timestamp,
        value: Double? = nil,
        events: [LogEntry] = []
    ) {
        self.init(
            alert: alert.name,
            facts: Incident.AlertFacts(alert),
            stream: stream.name,
            labels: stream.labels,
            cause: cause ?? Self.cause(of: alert, reason: reason, since: since.wallTime),
            since: since
        )
        (host, address, self.reason) = (stream.url.host, stream.url.description, reason)
        (self.value, self.events, origin, isStream) = (value, events, stream.origin, true)
        if self.cause.host == nil { self.cause.host = host }
    }

    /// The best that is known without an observed cause.
    private static func cause(of alert: AlertConfiguration, reason: String, since: WallTime) -> StreamCause {
        let isCheck = alert.condition.conditions.contains { $0.metric == .checkFailed }
        let kind: StreamCause.Kind = isCheck ? .check : reason.isEmpty ? .stalled : .media
        return StreamCause(kind, reason.isEmpty ? alert.name : reason, since: since)
    }
}

/// What a part of the monitor tells the book of incidents.
enum IncidentNews: Sendable {
    case fires(IncidentSignal)
    /// An alert is over, of a stream or of what takes its place.
    case resolves(alert: String, subject: String)
}

extension StreamCause {
    /// What viewers of the delivery notice, or what the content shows: faults of the two kinds have different owners.
    enum Realm: Hashable, Sendable { case delivery, content }

    var realm: Realm { kind == .check && !isFindingOfDelivery ? .content : .delivery }

    /// Whether the trouble is the consequence of something that is not known yet.
    var isConsequence: Bool { kind == .stalled || kind == .stale }

    /// The part of the group's key that causes of one fault share.
    var fault: String {
        switch kind {
        case .http: "http " + (status.map(String.init) ?? title)
        case .network: "network"
        case .stalled, .stale, .check, .media, .schedule: "\(kind.rawValue) \(title)"
        }
    }
}
