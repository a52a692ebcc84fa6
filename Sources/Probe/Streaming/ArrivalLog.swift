internal import Instrument

/// When how many bytes of a resource had come.
struct ArrivalLog: Hashable, Sendable {
    private struct Mark: Hashable {
        var count: Int
        var instant: MonotonicInstant
    }

    private var marks: [Mark] = []

    /// All bytes so far.
    var count: Int { marks.last?.count ?? 0 }
    var first: MonotonicInstant? { marks.first?.instant }
    var last: MonotonicInstant? { marks.last?.instant }

    /// So many more have come.
    mutating func add(_ count: Int, at instant: MonotonicInstant) {
        guard count > 0 else { return }
        marks.append(Mark(count: self.count.saturatingAdd(count), instant: instant))
    }

    /// When the first `count` bytes were there; nil if they are not yet.
    func instant(of count: Int) -> MonotonicInstant? {
        // The first mark that reaches it, by bisection.
        var (low, high) = (0, marks.count)
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].count < count { low = middle + 1 } else { high = middle }
        }
        return low < marks.count ? marks[low].instant : nil
    }
}

extension Int {
    func saturatingAdd(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
