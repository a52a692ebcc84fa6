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
    static let alert = "undelivered"
    /// A failure that lasts for this long is an incident, and a message that is lost is one at once.
    static let patience = Duration.seconds(60)

    static func subject(_ receiver: String) -> String { "receiver \(receiver)" }

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

extension MonitorModel {
    /// Takes note of the receivers that do not get their messages.
    package mutating func note(_ undelivered: [UndeliveredMessages]) { self.undelivered = undelivered }

    /// Continues with the receivers that did not get their messages from the earlier process: nobody knows that they do
    /// now.
    mutating func restoreUndelivered(at now: Timestamp) {
        let latest = now.wallTime.milliseconds.saturatingSubtract(Int64(UndeliveredMessages.patience.milliseconds))
        for incident in book.open {
            for member in incident.activeMembers where member.alerts.contains(UndeliveredMessages.alert) {
                guard let name = member.labels["receiver"], configuration.receivers[name] != nil,
                    member.stream == UndeliveredMessages.subject(name)
                else { continue }
                let since = WallTime(milliseconds: min(incident.cause.since.milliseconds, latest))
                undelivered.append(UndeliveredMessages(receiver: name, reason: incident.cause.text, since: since))
                reportedReceivers.insert(name)
            }
        }
    }

    /// Whether an alert is about a receiver that does not get its messages.
    func isUndelivered(_ alert: String, _ subject: String) -> Bool {
        alert == UndeliveredMessages.alert
            && reportedReceivers.contains { UndeliveredMessages.subject($0) == subject }
    }

    /// Makes an incident of each receiver that does not get its messages; the other receivers learn of it.
    mutating func judgeReceivers(at now: Timestamp) {
        let failing = undelivered.filter { $0.isIncident(at: now.wallTime) }
        let names = Set(failing.map(\.receiver))
        for receiver in failing where !reportedReceivers.contains(receiver.receiver) {
            let others = configuration.receivers.keys.filter { !names.contains($0) }.sorted()
            book.fires(receiver.signal(to: others, at: now), at: now)
        }
        for name in reportedReceivers.subtracting(names).sorted() {
            book.resolves(UndeliveredMessages.alert, of: UndeliveredMessages.subject(name), at: now)
        }
        reportedReceivers = names
    }
}
