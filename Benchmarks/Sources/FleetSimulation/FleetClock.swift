import Instrument
import Synchronization

/// The clock of thousands of players: moves on command as `VirtualClock` does, and takes the next of many alarms from
/// a heap.
final class FleetClock: SchedulingClock {
    private struct Alarm {
        let deadline: MonotonicInstant
        let number: UInt64

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.deadline, left.number) < (right.deadline, right.number)
        }
    }

    private struct State {
        var now = MonotonicInstant(nanoseconds: 0)
        var heap: [Alarm] = []
        /// A cancelled alarm has no action.
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var nextNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    private let start: Int64

    /// - Parameter start: the wall time at instant zero, in milliseconds since 1970.
    init(start: Int64) { self.start = start }

    var now: MonotonicInstant { state.withLock { $0.now } }
    var wallTime: WallTime { timestamp.wallTime }
    var timestamp: Timestamp { timestamp(of: now) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func timestamp(of instant: MonotonicInstant) -> Timestamp {
        Timestamp(instant: instant, wallTime: WallTime(milliseconds: start + instant.milliseconds))
    }

    /// Moves the clock, and runs what falls due on the way.
    ///
    /// - Parameter milliseconds: since midnight.
    func advance(to milliseconds: Int64) {
        let target = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
        while let action = takeNext(until: target) { action() }
    }

    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.actions[state.nextNumber] = action
            state.heap.append(Alarm(deadline: deadline, number: state.nextNumber))
            Self.raise(&state.heap)
            return state.nextNumber
        }
        return ScheduledAction { [weak self] in _ = self?.state.withLock { $0.actions.removeValue(forKey: number) } }
    }

    func sleep(until deadline: MonotonicInstant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        await withCheckedContinuation { waiter in _ = schedule(at: deadline) { waiter.resume() } }
    }

    private func takeNext(until target: MonotonicInstant) -> (@Sendable () -> Void)? {
        state.withLock { state in
            while let first = state.heap.first, first.deadline <= target {
                Self.removeFirst(&state.heap)
                guard let action = state.actions.removeValue(forKey: first.number) else { continue }
                state.now = max(state.now, first.deadline)
                return action
            }
            state.now = max(state.now, target)
            return nil
        }
    }

    private static func raise(_ heap: inout [Alarm]) {
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private static func removeFirst(_ heap: inout [Alarm]) {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let least = left + 1 < heap.count && heap[left + 1] < heap[left] ? left + 1 : left
            guard heap[least] < heap[parent] else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
