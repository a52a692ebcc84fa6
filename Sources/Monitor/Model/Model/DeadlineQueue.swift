internal import Instrument

/// A binary heap of deadlines. An entry is not removed when its slot gets another deadline: the owner ignores stale
/// entries.
struct DeadlineQueue: Sendable {
    struct Entry: Hashable, Sendable {
        var deadline: MonotonicInstant
        var slot: Int
    }

    private var entries: [Entry] = []

    var first: Entry? { entries.first }
    var count: Int { entries.count }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].deadline < entries[parent].deadline else { break }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the earliest entry that is due at `now`.
    mutating func popDue(at now: MonotonicInstant) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            let (left, right) = (2 * parent + 1, 2 * parent + 2)
            var least = parent
            if left < entries.count, entries[left].deadline < entries[least].deadline { least = left }
            if right < entries.count, entries[right].deadline < entries[least].deadline { least = right }
            if least == parent { return first }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
