internal import Instrument

/// When how many bytes of a resource had come.
struct ArrivalLog: Hashable, Sendable {
    private struct Mark: Hashable {
        var count: Int
        var instant: MonotonicInstant
    }

    /// Fewer bytes than this share a mark, so that what trickles in costs little more than what it is.
    private static let grain = 512

    private var marks: [Mark] = []
    /// How many instants are kept.
    var markCount: Int { marks.count }

    /// All bytes so far.
    var count: Int { marks.last?.count ?? 0 }
    var first: MonotonicInstant? { marks.first?.instant }
    var last: MonotonicInstant? { marks.last?.instant }

    /// Records the arrival of this number of further bytes.
    mutating func add(_ count: Int, at instant: MonotonicInstant) {
        guard count > 0 else { return }
        let mark = Mark(count: self.count.saturatingAdd(count), instant: instant)
        // The first stays as it is: it is when the first byte came.
        if marks.count > 1, let last = marks.last, last.count - marks[marks.count - 2].count < Self.grain {
            marks[marks.count - 1] = mark
        } else {
            marks.append(mark)
        }
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
