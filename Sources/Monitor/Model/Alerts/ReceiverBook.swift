package import Instrument
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// A receiver of alerts whose latest message has not arrived.
package struct UndeliveredMessages: Hashable, Sendable {
    /// The name of the receiver.
    package var receiver: String
    /// Why the latest attempt failed, in the words of the service, without secrets.
    package var reason: String
    /// When the first attempt failed.
    package var since: WallTime
    /// Attempts since then.
    package var attempts = 0
    /// Messages that the receiver has refused since then, and that are not sent again.
    package var lost = 0

    package init(receiver: String, reason: String, since: WallTime) {
        (self.receiver, self.reason, self.since) = (receiver, reason, since)
    }

    /// The receiver for the page.
    package var json: JSONValue {
        [
            "receiver": .string(receiver), "reason": .string(reason), "since": .string(since.rfc3339),
            "attempts": .int(attempts), "lost": .int(lost),
        ]
    }
}

extension UndeliveredMessages {
    /// The alert of an incident about a receiver.
    fileprivate static let alert = "undelivered"
    /// A failure that lasts for this long is an incident, and a message that is lost is one at once.
    fileprivate static let patience = Duration.seconds(60)

    fileprivate static func subject(_ receiver: String) -> String { "receiver \(receiver)" }

    fileprivate func isIncident(at now: WallTime) -> Bool {
        lost > 0 || now.milliseconds.saturatingSubtract(since.milliseconds) >= Int64(Self.patience.milliseconds)
    }

    /// - Parameter receivers: those that learn of it.
    fileprivate func signal(to receivers: [String], at now: Timestamp) -> IncidentSignal {
        var cause = StreamCause(.check, "Messages to \(receiver) do not arrive", since: since)
        cause.text = reason
        return IncidentSignal(
            alert: Self.alert,
            facts: .init(condition: "a message does not arrive", receivers: receivers, severity: .warning),
            stream: Self.subject(receiver),
            labels: ["receiver": receiver],
            cause: cause,
            since: now
        )
    }
}

/// The receivers that do not get their messages, and those of which there is an incident.
struct ReceiverBook: Sendable {
    private(set) var failing: [UndeliveredMessages] = []
    /// The receivers of which there is, or was, an incident.
    private var reported: Set<String> = []

    /// Takes note of the receivers that do not get their messages.
    mutating func note(_ failing: [UndeliveredMessages]) { self.failing = failing }

    /// Continues with the receivers that did not get their messages from an earlier process: nobody knows that they do
    /// now.
    mutating func restore(_ incidents: [Incident], _ known: Set<String>, at now: Timestamp) {
        let latest = now.wallTime.milliseconds.saturatingSubtract(Int64(UndeliveredMessages.patience.milliseconds))
        for incident in incidents {
            for member in incident.activeMembers where member.alerts.contains(UndeliveredMessages.alert) {
                guard let name = member.labels["receiver"], known.contains(name),
                    member.stream == UndeliveredMessages.subject(name)
                else { continue }
                let since = WallTime(milliseconds: min(incident.cause.since.milliseconds, latest))
                failing.append(UndeliveredMessages(receiver: name, reason: incident.cause.text, since: since))
                reported.insert(name)
            }
        }
    }

    /// Whether an alert is about a receiver that does not get its messages.
    func isReported(_ alert: String, _ subject: String) -> Bool {
        alert == UndeliveredMessages.alert && reported.contains { UndeliveredMessages.subject($0) == subject }
    }

    /// The incidents of receivers that do not get their messages; the other receivers learn of it.
    /// - Parameter receivers: all receivers, in their order.
    mutating func judge(_ receivers: [String], at now: Timestamp) -> [IncidentNews] {
        let failing = failing.filter { $0.isIncident(at: now.wallTime) }
        let names = Set(failing.map(\.receiver))
        let others = receivers.filter { !names.contains($0) }
        var news: [IncidentNews] = failing.filter { !reported.contains($0.receiver) }.map {
            .fires($0.signal(to: others, at: now))
        }
        for name in reported.subtracting(names).sorted() {
            news.append(.resolves(alert: UndeliveredMessages.alert, subject: UndeliveredMessages.subject(name)))
        }
        reported = names
        return news
    }

    func write(_ receivers: [String], to writer: inout MetricsWriter) {
        let failing = Dictionary(failing.map { ($0.receiver, $0) }) { _, last in last }
        let rows = receivers.map { name in
            (labels: MetricsWriter.labels([("receiver", name)]), failure: failing[name])
        }
        writer.begin("instrument_receiver_up", .gauge, "0 if the receiver did not take its latest message, else 1.")
        for row in rows { writer.sample(row.failure == nil ? 1 : 0, row.labels) }
        writer.begin(
            "instrument_receiver_lost_messages",
            .gauge,
            "Messages that the receiver has refused since it took one for the last time."
        )
        for row in rows { writer.sample(Double(row.failure?.lost ?? 0), row.labels) }
    }
}
