internal import Instrument

/// A set of sequence numbers as ordered ranges. Adding in order and counting are fast for sets of any size.
struct SequenceSet: Sendable {
    private(set) var ranges: [Range<UInt64>] = []
    /// For each range, the number of elements in all ranges before it.
    private var countsBefore: [Int] = []

    var isEmpty: Bool { ranges.isEmpty }
    /// The number of elements.
    var count: Int { (countsBefore.last ?? 0) + (ranges.last?.count ?? 0) }

    /// Adds a range that begins after all elements, or overlaps the last range.
    mutating func append(_ range: Range<UInt64>) {
        guard !range.isEmpty else { return }
        if let last = ranges.last, range.lowerBound <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            return
        }
        countsBefore.append(count)
        ranges.append(range)
    }

    /// Adds any range.
    mutating func insert(_ range: Range<UInt64>) {
        var other = SequenceSet()
        other.append(range)
        formUnion(other)
    }

    /// Adds the elements of another set.
    mutating func formUnion(_ other: SequenceSet) {
        if other.isEmpty { return }
        var merged = SequenceSet()
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) { merged.append(range) }
        self = merged
    }

    func contains(_ number: UInt64) -> Bool {
        let index = firstIndex(endingAfter: number)
        return index < ranges.count && ranges[index].contains(number)
    }

    /// The number of elements in a range.
    func count(in range: Range<UInt64>) -> Int { count(below: range.upperBound) - count(below: range.lowerBound) }

    /// The first number from `number` on that is not in the set.
    func firstAbsent(from number: UInt64) -> UInt64 {
        let index = firstIndex(endingAfter: number)
        return index < ranges.count && ranges[index].contains(number) ? ranges[index].upperBound : number
    }

    /// Removes the elements below `number`.
    mutating func removeAll(below number: UInt64) {
        var kept = SequenceSet()
        for range in ranges { kept.append(max(range.lowerBound, number)..<max(range.upperBound, number)) }
        self = kept
    }

    private func count(below number: UInt64) -> Int {
        let index = firstIndex(endingAfter: number)
        guard index < ranges.count else { return count }
        return countsBefore[index] + Int(max(number, ranges[index].lowerBound) - ranges[index].lowerBound)
    }

    private func firstIndex(endingAfter number: UInt64) -> Int {
        ranges.partitioningIndex { $0.upperBound > number }
    }
}
