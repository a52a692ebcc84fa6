internal import Instrument

/// Segments that were listed, or rows from which they are made.
struct SegmentStorage: Hashable, Sendable {
    /// Segments one after another, either all listed or made from one template row.
    private(set) var rows: [SegmentRow] = []
    /// How many segments the rows before each have.
    private var offsets: [Int] = []
    private(set) var count = 0

    init(_ segments: [MediaSegment]) {
        append(.listed(segments))
    }

    init(rows: [SegmentRow]) {
        for row in rows { append(row) }
    }

    private mutating func append(_ row: SegmentRow) {
        guard row.count > 0 else { return }
        offsets.append(count)
        rows.append(row)
        count += row.count
    }

    func segment(at position: Int) -> MediaSegment {
        let row = lowerBound(offsets.count) { offsets[$0] > position } - 1
        return rows[row].segment(at: position - offsets[row])
    }

    /// The first place whose segment passes the test; they have to pass from some place on.
    func firstPosition(where isPast: (MediaSegment) -> Bool) -> Int {
        lowerBound(count) { isPast(segment(at: $0)) }
    }

    /// All of them; a copy of nothing where they are listed.
    var all: [MediaSegment] {
        if rows.count == 1, case .listed(let segments) = rows[0] { return segments }
        return prefix(count)
    }

    /// The same with other sequence numbers.
    func renumbered(by shift: Int64) -> SegmentStorage {
        SegmentStorage(rows: rows.map { $0.renumbered(by: shift) })
    }

    func prefix(_ limit: Int) -> [MediaSegment] { (0..<Swift.min(limit, count)).map(segment(at:)) }

    private func lowerBound(_ count: Int, _ test: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if test(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Segments that follow one another.
enum SegmentRow: Hashable, Sendable {
    case listed([MediaSegment])
    case template(TemplateRow)

    var count: Int {
        switch self {
        case .listed(let segments): segments.count
        case .template(let row): row.count
        }
    }

    func segment(at position: Int) -> MediaSegment {
        switch self {
        case .listed(let segments): segments[position]
        case .template(let row): row.segment(at: position)
        }
    }

    func renumbered(by shift: Int64) -> SegmentRow {
        switch self {
        case .listed(let segments): return .listed(segments.map { $0.renumbered(by: shift, discontinuity: 0) })
        case .template(var row):
            row.sequence = row.sequence.saturatingAdd(shift)
            return .template(row)
        }
    }
}
