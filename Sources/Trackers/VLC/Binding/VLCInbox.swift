internal import Dispatch
internal import Instrument

/// Takes libVLC's events in its callbacks and hands them to a queue: a callback copies an event and returns, so that no
/// observer blocks libVLC, and everything else may call libVLC.
///
/// Bounded: repeated times and percentages replace one another while they wait, and events beyond ``capacity`` are
/// dropped and counted.
final class VLCInbox: Sendable {
    static let capacity = 1_024

    private struct State {
        var events: [VLCEvent] = []
        var isScheduled = false
        var droppedCount = 0
    }

    private let queue: DispatchQueue
    private let handle: @Sendable ([VLCEvent], _ droppedCount: Int) -> Void
    private let state = Lock(State())

    /// Creates an inbox whose events `handle` receives on `queue`.
    init(on queue: DispatchQueue, handle: @escaping @Sendable ([VLCEvent], _ droppedCount: Int) -> Void) {
        (self.queue, self.handle) = (queue, handle)
    }

    /// Takes an event, on any thread.
    func take(_ event: VLCEvent) {
        let needsSchedule = state.withLock { state in
            if let last = state.events.last, event.replaces(last) {
                state.events[state.events.count - 1] = event
                return false
            }
            guard state.events.count < Self.capacity else {
                state.droppedCount += 1
                return false
            }
            state.events.append(event)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsSchedule { queue.async { [weak self] in self?.drain() } }
    }

    private func drain() {
        let (events, droppedCount) = state.withLock { state in
            defer { (state.events, state.isScheduled, state.droppedCount) = ([], false, 0) }
            return (state.events, state.droppedCount)
        }
        handle(events, droppedCount)
    }
}

extension VLCEvent {
    /// Whether an event makes the event before it superfluous. The begin and the end of buffering stay.
    fileprivate func replaces(_ earlier: VLCEvent) -> Bool {
        guard thread == earlier.thread else { return false }
        return switch (kind, earlier.kind) {
        case (.time, .time), (.position, .position): true
        case (.buffering(let percent), .buffering(let before)): (percent >= 100) == (before >= 100)
        default: false
        }
    }
}
