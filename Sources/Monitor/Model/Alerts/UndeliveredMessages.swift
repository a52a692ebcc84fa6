package import Instrument
package import InstrumentJSON
internal import InstrumentText

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

extension MonitorModel {
    /// Takes note of the receivers that do not get their messages.
    package mutating func note(_ undelivered: [UndeliveredMessages]) { self.undelivered = undelivered }
}
