internal import Instrument

/// The arrival times of the bytes of a resource.
struct ArrivalLog: Hashable, Sendable {
    private struct Mark: Hashable {
        var count: Int
        var instant: MonotonicInstant
    }

    /// Bytes and a time that two marks are apart at least, in one of the two, so that small pieces cost little memory.
    /// A byte counts as arrived at most this time later than it was.
    private static let grain = (bytes: 512, time: Duration.milliseconds(2))

    private var marks: [Mark] = []
    /// The largest number of marks.
    var markCount: Int { marks.count }

    /// The number of bytes so far.
    var count: Int { marks.last?.count ?? 0 }
    /// The number of bytes that came with the first.
    var firstCount: Int { marks.first?.count ?? 0 }
    var first: MonotonicInstant? { marks.first?.instant }
    var last: MonotonicInstant? { marks.last?.instant }

    /// Records the arrival of this number of further bytes.
    mutating func add(_ count: Int, at instant: MonotonicInstant) {
        guard count > 0 else { return }
        let mark = Mark(count: self.count.saturatingAdd(count), instant: instant)
        // The first mark stays, because it is the arrival of the first byte.
        if marks.count > 1, Self.isNear(mark, marks[marks.count - 2]) {
            marks[marks.count - 1] = mark
        } else {
            marks.append(mark)
        }
    }

    private static func isNear(_ mark: Mark, _ other: Mark) -> Bool {
        mark.count - other.count < grain.bytes && other.instant.duration(to: mark.instant) <= grain.time
    }

    /// The number of bytes that had come by an instant.
    func count(at instant: MonotonicInstant) -> Int {
        let later = marks.partitioningIndex { $0.instant > instant }
        return later > 0 ? marks[later - 1].count : 0
    }

    /// The instant at which the first `count` bytes had arrived; nil before.
    func instant(of count: Int) -> MonotonicInstant? {
        let index = index(of: count)
        return index < marks.count ? marks[index].instant : nil
    }

    /// The end of the part that begins at `begin`, behind the first `count` bytes; nil before. A part takes more than
    /// its time and has at least its bytes.
    func endOfPart(
        of parts: TransferParts,
        behind count: Int,
        from begin: MonotonicInstant
    ) -> (count: Int, instant: MonotonicInstant)? {
        let earliest = begin.advanced(by: parts.time)
        let byTime = marks.partitioningIndex { $0.instant > earliest }
        let end = max(byTime, index(of: count.saturatingAdd(max(1, parts.bytes))))
        return end < marks.count ? (marks[end].count, marks[end].instant) : nil
    }

    /// The end of the last of the parts into which a download that began at `begin` divides; nil before the first one.
    func lastPart(of parts: TransferParts, from begin: MonotonicInstant) -> MonotonicInstant? {
        var last: (count: Int, instant: MonotonicInstant)?
        while let next = endOfPart(of: parts, behind: last?.count ?? 0, from: last?.instant ?? begin) { last = next }
        return last?.instant
    }

    /// The time in which bytes arrived, without the pauses of a server that sends what it is producing: the sum of the
    /// distances between arrivals that are at most three times the average. A steady link has no such pauses.
    ///
    /// dash.js, `ThroughputModel.js`, sums the distances below the average, which halves the time of a steady link.
    var transferTimeWithoutPauses: Duration {
        guard let first, let last, marks.count > 2 else { return first.map { $0.duration(to: last ?? $0) } ?? .zero }
        let limit = first.duration(to: last) / (marks.count - 1) * 3
        return zip(marks, marks.dropFirst()).reduce(into: Duration.zero) { sum, pair in
            let distance = pair.0.instant.duration(to: pair.1.instant)
            if distance <= limit { sum += distance }
        }
    }

    /// The same bytes, none of which arrives before an instant.
    func delayed(until earliest: MonotonicInstant) -> ArrivalLog {
        let first = marks.partitioningIndex { $0.instant > earliest }
        guard first > 0 else { return self }
        var delayed = ArrivalLog()
        delayed.marks = [Mark(count: marks[first - 1].count, instant: earliest)] + marks[first...]
        return delayed
    }

    /// The place of the first mark with at least `count` bytes, by bisection; the number of marks without one.
    private func index(of count: Int) -> Int { marks.partitioningIndex { $0.count >= count } }
}
