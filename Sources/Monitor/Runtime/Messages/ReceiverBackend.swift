package import Instrument
internal import InstrumentMonitor

/// Sends messages about alerts to one receiver, each alone. The queue retries a message until the receiver has accepted
/// it, or refuses it.
package final class ReceiverBackend: Backend {
    package let name: BackendName
    /// Each message alone and at once, so that a message that arrived is never sent with one that did not.
    package let policy = DeliveryPolicy(maxCount: 1, maxAge: .zero, timeout: .seconds(60), dueCount: 1)
    package var service: ServiceName? { Self.service(of: receiver) }

    private let receiver: String
    private let sender: any MessageSender
    private let health: ReceiverHealth?

    /// Creates a backend for a receiver of the configuration.
    /// - Parameters:
    ///   - receiver: the name of the receiver.
    ///   - sender: sends the messages.
    ///   - health: takes note of what arrived and what did not.
    package init(receiver: String, sender: any MessageSender, health: ReceiverHealth? = nil) {
        name = BackendName("alerts:" + receiver)
        (self.receiver, self.sender, self.health) = (receiver, sender, health)
    }

    static func service(of receiver: String) -> ServiceName { ServiceName("alerts:" + receiver) }

    package func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records {
            guard case .event(let event) = record.sample, event.action == .monitorAlert,
                let body = event[.alertMessage]
            else { continue }
            let message = QueuedMessage(id: event[.alertMessageId] ?? record.id.description, body: body)
            let outcome = await sender.send(message).settled(for: record.id)
            health?.note(outcome, of: receiver)
            if outcome != .acknowledged { return outcome }
        }
        return .acknowledged
    }
}

extension SendingResult {
    /// The outcome for the queue, which knows a refusal of a part of a message by the sample.
    fileprivate func settled(for id: SampleID) -> DeliveryOutcome {
        if case .acknowledgedExcept = outcome, let failure = outcome.failure {
            .acknowledgedExcept([id: failure])
        } else {
            outcome
        }
    }
}
