package import Instrument
package import InstrumentMonitor

/// Sends what fires again to receivers that forget an alert that is not sent again (Alertmanager).
///
/// Beside the queue: what fails is not kept, because the next round sends the state of that time. A service that was
/// away, or that restarts, knows what fires one round later.
package final class MessageResender: Sendable {
    /// The time between two rounds.
    package static let interval = Duration.seconds(60)

    private let senders = Lock<[String: any MessageSender]>([:])
    private let health: ReceiverHealth?

    /// - Parameter health: takes note of what arrived and what did not.
    package init(health: ReceiverHealth? = nil) { self.health = health }

    /// Sends what fires to a receiver from now on.
    package func add(_ receiver: String, _ sender: any MessageSender) { senders.withLock { $0[receiver] = sender } }

    /// Forgets the receivers that the configuration no longer has.
    package func keep(_ receivers: Set<String>) {
        senders.withLock { $0 = $0.filter { receivers.contains($0.key) } }
    }

    /// Sends what fires now, once; returns the receivers that did not take everything, with the reason. One that does
    /// not answer delays no other one: their alerts would end.
    @discardableResult
    package func resend(_ model: MonitorModel, at now: Timestamp) async -> [String: String] {
        await withTaskGroup(of: (String, String)?.self) { group in
            for (receiver, sender) in senders.withLock({ $0 }) {
                let messages = model.book.firing(for: receiver, at: now)
                guard !messages.isEmpty else { continue }
                group.addTask { [health] in
                    for message in messages {
                        let outcome = await sender.send(QueuedMessage(message)).outcome
                        health?.note(outcome, of: receiver)
                        if let failure = outcome.failure { return (receiver, failure) }
                    }
                    return nil
                }
            }
            var failures: [String: String] = [:]
            for await failure in group { if let failure { failures[failure.0] = failure.1 } }
            return failures
        }
    }

    /// Sends what fires at every round until the task is cancelled.
    package func run(_ monitor: Monitor, clock: any SchedulingClock) async {
        while !Task.isCancelled {
            do { try await clock.sleep(until: clock.now.advanced(by: Self.interval), tolerance: nil) } catch { return }
            if senders.withLock({ !$0.isEmpty }) { await resend(monitor.state, at: clock.timestamp) }
        }
    }
}
