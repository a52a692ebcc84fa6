/// Chooses among the whole records of a damaged segment those that belong to it, each number once.
///
/// The most records whose places and numbers agree are believed. What stands elsewhere is a page in a wrong place: it
/// counts where the others have a gap.
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
        // Of two copies, the one with more company.
        for index in others.sorted(by: { runs[$0].count > runs[$1].count }) {
            choose(runs[index].filter { isEndKnown || $0.sequence < end })
        }
        if !isEndKnown { chooseEnd(from: others, behind: &end) }
        return chosen.values.map { RecordIndex.Entry(sequence: $0.sequence, offset: $0.offset) }
            .sorted { $0.sequence < $1.sequence }
    }

    /// Chooses the records that continue where the others end: it was swapped with something before it. What is missing in between has to
    /// fit into two pages, whose ends cut records in two.
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

    /// The runs, in the order of their places, whose numbers ascend and that have the most records together.
    private func longestAscent() -> [Int] {
        let ends = runs.compactMap(\.last?.sequence).sorted()
        // The best sum, and whose it is, among the runs that end within a stretch of numbers (a Fenwick tree).
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

    /// How many of the sorted numbers are smaller.
    private static func rank(_ number: UInt64, in numbers: [UInt64]) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Without what cannot be the end: the records that are missing before it would have had no room.
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
