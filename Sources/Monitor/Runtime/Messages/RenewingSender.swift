internal import Instrument
internal import InstrumentMonitor

/// Why a secret cannot be read now. The text names where the secret should be, and does not contain it.
package struct UnreadableSecret: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Sends each message with a sender that is made for it, so that a secret in a file may be another one at any time.
///
/// While the secret cannot be read, the result is a retry with the reason: the queue keeps the message.
package struct RenewingSender: MessageSender {
    package let keepsIncidents: Bool
    private let make: @Sendable () throws(UnreadableSecret) -> any MessageSender

    /// - Parameter make: reads the secrets and makes the sender; may read files.
    package init(keepsIncidents: Bool, _ make: @escaping @Sendable () throws(UnreadableSecret) -> any MessageSender) {
        (self.keepsIncidents, self.make) = (keepsIncidents, make)
    }

    package func send(_ message: QueuedMessage) async -> SendingResult {
        let sender: any MessageSender
        do throws(UnreadableSecret) { sender = try make() } catch {
            return SendingResult(.retry(after: nil, reason: error.description))
        }
        return await sender.send(message)
    }
}
