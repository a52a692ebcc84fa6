internal import Instrument

/// Listed segments, or templates that create segments.
struct SegmentStorage: Hashable, Sendable {
    /// Consecutive segments, all listed or all created from one template.
    private(set) var rows: [SegmentRow] = []
    /// The number of segments before each part.
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
        let row = offsets.partitioningIndex { $0 > position } - 1
        return rows[row].segment(at: position - offsets[row])
    }

    func times(at position: Int) -> SegmentTimes {
        let row = offsets.partitioningIndex { $0 > position } - 1
        return rows[row].times(at: position - offsets[row])
    }

    /// Returns the first position whose segment passes the test; all later segments must pass as well.
    func firstPosition(where isPast: (SegmentTimes) -> Bool) -> Int {
        (0..<count).partitioningIndex { isPast(times(at: $0)) }
    }

    /// All segments; no copy where they are listed.
    var all: [MediaSegment] {
        if rows.count == 1, case .listed(let segments) = rows[0] { return segments }
        return prefix(count)
    }

    /// Returns the same segments with other sequence numbers.
    func renumbered(by shift: Int64) -> SegmentStorage {
        SegmentStorage(rows: rows.map { $0.renumbered(by: shift) })
    }

    func prefix(_ limit: Int) -> [MediaSegment] { (0..<Swift.min(limit, count)).map(segment(at:)) }
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

    func times(at position: Int) -> SegmentTimes {
        switch self {
        case .listed(let segments): segments[position].times
        case .template(let row): row.times(at: position)
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
