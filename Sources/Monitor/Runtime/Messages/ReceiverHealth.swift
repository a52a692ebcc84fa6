package import Instrument
package import InstrumentMonitor

/// Knows which receivers of alerts do not get their messages.
package final class ReceiverHealth: Sendable {
    private struct State {
        var failing: [String: UndeliveredMessages] = [:]
        var observer: (@Sendable ([UndeliveredMessages]) -> Void)?
    }

    private let clock: any SchedulingClock
    private let state = Lock(State())

    package init(clock: any SchedulingClock = SystemClock()) { self.clock = clock }

    /// The receivers whose latest message has not arrived, by name.
    package var failing: [UndeliveredMessages] {
        state.withLock { $0.failing.values.sorted { $0.receiver < $1.receiver } }
    }

    /// Takes note of the receivers that did not get their messages from an earlier process.
    package func restore(_ undelivered: [UndeliveredMessages]) {
        state.withLock { state in
            for entry in undelivered where state.failing[entry.receiver] == nil {
                state.failing[entry.receiver] = entry
            }
        }
    }

    /// Sets what learns of each change, on the queue's thread.
    package func observe(_ observer: @escaping @Sendable ([UndeliveredMessages]) -> Void) {
        state.withLock { $0.observer = observer }
        observer(failing)
    }

    /// Takes note of the outcome of a message.
    package func note(_ outcome: DeliveryOutcome, of receiver: String) {
        let now = clock.wallTime
        let observer = state.withLock { state -> (@Sendable ([UndeliveredMessages]) -> Void)? in
            let old = state.failing[receiver]
            guard let reason = outcome.failure else {
                state.failing[receiver] = nil
                return old == nil ? nil : state.observer
            }
            var new = old ?? UndeliveredMessages(receiver: receiver, reason: reason, since: now)
            new.reason = reason
            new.attempts += 1
            if outcome.isFinal { new.lost += 1 }
            state.failing[receiver] = new
            return old?.reason == new.reason && old?.lost == new.lost ? nil : state.observer
        }
        observer?(failing)
    }

    /// Forgets a receiver that the configuration no longer has.
    package func keep(_ receivers: some Collection<String>) {
        let known = Set(receivers)
        let observer = state.withLock { state -> (@Sendable ([UndeliveredMessages]) -> Void)? in
            let before = state.failing.count
            state.failing = state.failing.filter { known.contains($0.key) }
            return state.failing.count == before ? nil : state.observer
        }
        observer?(failing)
    }
}

extension DeliveryOutcome {
    /// Whether the queue sends the message no more.
    fileprivate var isFinal: Bool {
        switch self {
        case .refused, .tooLarge, .acknowledgedExcept: true
        case .acknowledged, .retry, .unauthorized, .gone: false
        }
    }
}
