/// An action and its time.
///
/// `@unchecked Sendable`, because everything that changes is touched under the lock of ``AlarmThreads`` alone.
final class Alarm: @unchecked Sendable {
    let deadline: MonotonicInstant
    /// The deadline with the tolerance: by then the alarm has to run.
    let latest: MonotonicInstant
    /// Decides between alarms of one instant.
    fileprivate let number: UInt64
    /// Nil once the alarm has run or was called off.
    fileprivate var action: (@Sendable () -> Void)?
    /// The place in the heap.
    fileprivate var index = 0

    init(
        at deadline: MonotonicInstant,
        tolerance: Duration = .zero,
        number: UInt64,
        _ action: @escaping @Sendable () -> Void
    ) {
        (self.deadline, self.number, self.action) = (deadline, number, action)
        latest = deadline.advanced(by: max(.zero, tolerance))
    }

    fileprivate func isBefore(_ other: Alarm) -> Bool {
        latest == other.latest ? number < other.number : latest < other.latest
    }
}

/// Alarms by the latest time at which they have to run, as a binary heap that also removes alarms from its middle: most
/// alarms are time limits, which are called off long before their time.
struct AlarmHeap {
    private var alarms: [Alarm] = []

    /// The alarm that has to run first.
    var first: Alarm? { alarms.first }

    mutating func insert(_ alarm: Alarm) {
        alarm.index = alarms.count
        alarms.append(alarm)
        moveUp(alarm)
    }

    /// Removes an alarm.
    ///
    /// - Returns: its action, to be released outside the lock; nil if the alarm is not in the heap.
    mutating func remove(_ alarm: Alarm) -> (@Sendable () -> Void)? {
        guard let action = alarm.action, let last = alarms.popLast() else { return nil }
        alarm.action = nil
        if last !== alarm {
            place(last, at: alarm.index)
            moveUp(last)
            moveDown(last)
        }
        return action
    }

    /// Removes the alarm that has to run first and returns its action if the alarm is due.
    mutating func takeDue(at now: MonotonicInstant) -> (@Sendable () -> Void)? {
        guard let first = alarms.first, first.deadline <= now else { return nil }
        return remove(first)
    }

    /// The number of alarms that have to run by now, counted up to a limit.
    func dueCount(at now: MonotonicInstant, upTo limit: Int) -> Int {
        var (count, open) = (0, [0])
        while count < limit, let index = open.popLast() {
            guard index < alarms.count, alarms[index].latest <= now else { continue }
            count += 1
            open += [2 * index + 1, 2 * index + 2]
        }
        return count
    }

    private mutating func place(_ alarm: Alarm, at index: Int) {
        alarms[index] = alarm
        alarm.index = index
    }

    private mutating func moveUp(_ alarm: Alarm) {
        while alarm.index > 0 {
            let parent = alarms[(alarm.index - 1) / 2]
            guard alarm.isBefore(parent) else { return }
            swap(alarm, parent)
        }
    }

    private mutating func moveDown(_ alarm: Alarm) {
        while true {
            let (left, right) = (2 * alarm.index + 1, 2 * alarm.index + 2)
            guard left < alarms.count else { return }
            let least = right < alarms.count && alarms[right].isBefore(alarms[left]) ? alarms[right] : alarms[left]
            guard least.isBefore(alarm) else { return }
            swap(alarm, least)
        }
    }

    private mutating func swap(_ one: Alarm, _ other: Alarm) {
        let index = one.index
        place(one, at: other.index)
        place(other, at: index)
    }
}
