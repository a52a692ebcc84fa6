package import Instrument
internal import InstrumentJSON
package import InstrumentMonitor

/// Appends messages to the shared queue, from which a ``ReceiverBackend`` sends them.
///
/// A message that the queue does not take, on a full disk for example, waits in memory and is offered again, so that
/// the receivers get their messages in order as soon as there is room. Methods may be called on any thread; they wait
/// no longer than ``BatchQueue/append(_:for:)``.
package final class QueueSink: AlertSink {
    private struct Entry {
        let event: Event
        let receiver: String
    }

    private struct State {
        var waiting: [Entry] = []
        /// Why the queue did not take the first one.
        var failure: QueueError?
        /// Messages that found no room in memory.
        var lost = 0
    }

    /// The time between two attempts.
    package static let retryInterval = Duration.seconds(5)
    /// Messages that wait in memory at most; later ones are counted as lost.
    package static let mostWaiting = 1_000

    private let queue: BatchQueue
    private let clock: any SchedulingClock
    private let note: @Sendable (AlertMessage) -> Void
    private let state = Lock(State())

    /// - Parameter note: receives each message, for the log.
    package init(
        _ queue: BatchQueue,
        clock: any SchedulingClock = SystemClock(),
        note: @escaping @Sendable (AlertMessage) -> Void = { _ in }
    ) {
        (self.queue, self.clock, self.note) = (queue, clock, note)
    }

    package func send(_ message: AlertMessage) {
        var event = Event(.monitorAlert, tracker: TrackerID(0), time: clock.timestamp)
        event[.alertMessage] = message.json.description
        event[.alertMessageId] = message.id
        let entries = message.receivers.map { [event] in Entry(event: event, receiver: $0) }
        state.withLock { state in
            if state.waiting.count + entries.count > Self.mostWaiting { offer(&state) }
            let free = Self.mostWaiting - state.waiting.count
            state.waiting += entries.prefix(free)
            state.lost += max(0, entries.count - free)
            offer(&state)
        }
        note(message)
    }

    /// Offers the messages that wait to the queue.
    package func retry() { state.withLock { offer(&$0) } }

    /// Offers what waits at every interval until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            let next = clock.now.advanced(by: Self.retryInterval)
            do { try await clock.sleep(until: next, tolerance: nil) } catch { return }
            retry()
        }
    }

    /// A line for people about the messages that the queue has not taken; nil if it has taken all.
    package var unqueued: String? {
        state.withLock { (state: inout State) -> String? in
            let count = state.waiting.count + state.lost
            if count == 0 { return nil }
            let words = count == 1 ? "message about alerts was" : "messages about alerts were"
            return "\(count) \(words) not queued and will not be sent" + (state.failure.map { ": \($0)" } ?? "")
        }
    }

    private func offer(_ state: inout State) {
        var taken = 0
        for entry in state.waiting {
            let result = queue.append([.event(entry.event)], for: ReceiverBackend.service(of: entry.receiver))
            if case .notStored(let error) = result {
                state.failure = error
                break
            }
            taken += 1
        }
        state.waiting.removeFirst(taken)
    }
}
