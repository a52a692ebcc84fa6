internal import Instrument

/// Chooses the records that belong to a damaged segment, each sequence number once.
///
/// Accepts the largest set of records with ascending offsets and sequence numbers. Other records are on a page in a
/// wrong place: they fill the gaps of that set.
struct RecordChoice {
    private let runs: [[FoundRecord]]
    private let isEndKnown: Bool
    private var chosen: [UInt64: FoundRecord] = [:]

    init(_ runs: [[FoundRecord]], isEndKnown: Bool) {
        self.runs = runs
        self.isEndKnown = isEndKnown
    }

    /// The entries of an index.
    mutating func entries() -> [RecordIndex.Entry] {
        let backbone = withoutLooseEnd(longestAscent())
        for index in backbone { choose(runs[index]) }
        var end = backbone.last.flatMap { runs[$0].last }.map { $0.sequence + 1 } ?? 0
        let isInBackbone = Set(backbone)
        let others = runs.indices.filter { !isInBackbone.contains($0) }
        // Of two copies, the one in the longer run.
        for index in others.sorted(by: { runs[$0].count > runs[$1].count }) {
            choose(runs[index].filter { isEndKnown || $0.sequence < end })
        }
        if !isEndKnown { chooseEnd(from: others, behind: &end) }
        return chosen.values.map { RecordIndex.Entry(sequence: $0.sequence, offset: $0.offset) }
            .sorted { $0.sequence < $1.sequence }
    }

    /// Chooses the records that continue after the end of the others, from a page that was swapped with an earlier one.
    /// The missing records in between must fit into two pages, whose ends cut records.
    private mutating func chooseEnd(from others: [Int], behind end: inout UInt64) {
        let size = chosen.values.reduce(0) { $0 + $1.next - $1.offset } / max(1, chosen.count)
        let gap = UInt64(2 * 4096 / max(Segment.minRecordSize, size))
        for index in others.sorted(by: { (runs[$0].first?.sequence ?? 0) < (runs[$1].first?.sequence ?? 0) }) {
            guard let first = runs[index].first, let last = runs[index].last, last.sequence >= end,
                first.sequence <= end + gap
            else { continue }
            choose(runs[index].filter { $0.sequence >= end })
            end = last.sequence + 1
        }
    }

    /// A record that is erased in one copy is erased.
    private mutating func choose(_ records: [FoundRecord]) {
        for record in records where chosen[record.sequence] == nil || record.isErased {
            chosen[record.sequence] = record
        }
    }

    /// The runs with ascending offsets and sequence numbers that have the most records together.
    private func longestAscent() -> [Int] {
        let ends = runs.compactMap(\.last?.sequence).sorted()
        // The best sum and its run, among the runs that end within a range of sequence numbers (a Fenwick tree).
        var best = [(count: Int, run: Int)](repeating: (0, -1), count: ends.count + 1)
        var previous = [Int](repeating: -1, count: runs.count)
        var top = (count: 0, run: -1)
        for (index, run) in runs.enumerated() {
            guard let first = run.first?.sequence, let last = run.last?.sequence else { continue }
            var before = (count: 0, run: -1)
            var node = Self.rank(first, in: ends)
            while node > 0 {
                if best[node].count > before.count { before = best[node] }
                node &= node - 1
            }
            previous[index] = before.run
            let sum = (count: before.count + run.count, run: index)
            if sum.count > top.count { top = sum }
            node = Self.rank(last, in: ends) + 1
            while node < best.count {
                if sum.count > best[node].count { best[node] = sum }
                node += node & -node
            }
        }
        var ascent: [Int] = []
        while top.run >= 0 {
            ascent.append(top.run)
            top.run = previous[top.run]
        }
        return ascent.reversed()
    }

    /// The number of smaller values in a sorted list.
    private static func rank(_ number: UInt64, in numbers: [UInt64]) -> Int {
        numbers.partitioningIndex { $0 >= number }
    }

    /// Removes records that cannot be at the end, because the missing records before them would not fit.
    private func withoutLooseEnd(_ backbone: [Int]) -> [Int] {
        var backbone = backbone
        var count = backbone.reduce(0) { $0 + runs[$1].count }
        while !isEndKnown, backbone.count > 1, let last = runs[backbone[backbone.count - 1]].first,
            let before = runs[backbone[backbone.count - 2]].last, last.offset > before.next,
            case let size = runs[backbone[backbone.count - 1]].count, size <= count - size,
            last.sequence - before.sequence - 1 > UInt64(last.offset - before.next) / UInt64(Segment.minRecordSize)
        {
            backbone.removeLast()
            count -= size
        }
        return backbone
    }
}
