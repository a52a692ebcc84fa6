package import Instrument
internal import InstrumentHTTP
package import InstrumentWatch

/// An alert of a stream that begins to fire.
package struct IncidentSignal: Hashable, Sendable {
    package var alert: AlertConfiguration
    package var stream: WatchedStream
    package var cause: StreamCause
    /// The code of the error, or the rules that are broken, as messages name them.
    package var reason: String
    /// Since when the condition holds.
    package var since: Timestamp
    package var value: Double?
    package var events: [LogEntry]

    /// Creates a signal; without a cause, the reason takes its place.
    package init(
        _ alert: AlertConfiguration,
        _ stream: WatchedStream,
        cause: StreamCause?,
        reason: String,
        since: Timestamp,
        value: Double? = nil,
        events: [LogEntry] = []
    ) {
        (self.alert, self.stream, self.reason) = (alert, stream, reason)
        (self.since, self.value, self.events) = (since, value, events)
        self.cause = cause ?? Self.cause(of: alert, reason: reason, since: since.wallTime)
        if self.cause.host == nil { self.cause.host = stream.url.host }
    }

    /// The best that is known without an observed cause.
    private static func cause(of alert: AlertConfiguration, reason: String, since: WallTime) -> StreamCause {
        let isCheck = alert.condition.conditions.contains { $0.metric == .checkFailed }
        let kind: StreamCause.Kind = isCheck ? .check : reason.isEmpty ? .stalled : .media
        return StreamCause(kind, reason.isEmpty ? alert.name : reason, since: since)
    }
}

extension StreamCause {
    /// What viewers of the delivery notice, or what the content shows: faults of the two kinds have different owners.
    enum Realm: Hashable, Sendable { case delivery, content }

    var realm: Realm { kind == .check ? .content : .delivery }

    /// Whether the trouble is the consequence of something that is not known yet.
    var isConsequence: Bool { kind == .stalled || kind == .stale }

    /// The part of the group's key that causes of one fault share.
    var fault: String {
        switch kind {
        case .http: "http \(status ?? 0)"
        case .network: "network"
        case .stalled, .stale, .check, .media, .schedule: "\(kind.rawValue) \(title)"
        }
    }
}
