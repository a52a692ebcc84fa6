/// Numbers of samples, as ranges in order: adding in order and counting are quick, however many there are.
struct SequenceSet: Sendable {
    private(set) var ranges: [Range<UInt64>] = []
    /// How many numbers are in all ranges before each.
    private var countsBefore: [Int] = []

    var isEmpty: Bool { ranges.isEmpty }
    /// How many numbers there are.
    var count: Int { (countsBefore.last ?? 0) + (ranges.last?.count ?? 0) }

    /// Adds a range that begins behind all that is there, or overlaps with the last.
    mutating func append(_ range: Range<UInt64>) {
        guard !range.isEmpty else { return }
        if let last = ranges.last, range.lowerBound <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            return
        }
        countsBefore.append(count)
        ranges.append(range)
    }

    /// Adds a range, wherever it lies.
    mutating func insert(_ range: Range<UInt64>) {
        var other = SequenceSet()
        other.append(range)
        formUnion(other)
    }

    /// Adds the numbers of another set.
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

    /// How many numbers of a range are in the set.
    func count(in range: Range<UInt64>) -> Int { count(below: range.upperBound) - count(below: range.lowerBound) }

    /// The first number from `number` on that is not in the set.
    func firstAbsent(from number: UInt64) -> UInt64 {
        let index = firstIndex(endingAfter: number)
        return index < ranges.count && ranges[index].contains(number) ? ranges[index].upperBound : number
    }

    /// Forgets numbers below `number`.
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
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound > number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
