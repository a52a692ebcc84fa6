package import Instrument
package import InstrumentManifests

/// A segment of a media playlist with what stands before its address.
package struct ListedSegment: Sendable {
    /// The parsed segment.
    package var segment: MediaSegment
    /// The line of the address.
    package var line: Int
    /// The segment's `EXT-X-PROGRAM-DATE-TIME`; nil without one.
    package var date: WallTime?
    /// Whether `EXT-X-DISCONTINUITY` stands before the segment.
    package var isAfterDiscontinuity: Bool
    /// The address of the initialization segment in the form of ``reference``; nil without one.
    package var mapReference: String?
    fileprivate var entries: PlaylistEntries
    /// The place of the address in the entries.
    fileprivate var entry: Int

    /// The address as the playlist writes it, without host, query and fragment.
    package var reference: String { ListedSegments.reference(entries.text(of: entry)) }

    /// The reference and the byte range: the same for the same segment, also where each reload has new tokens in the
    /// query, or is redirected to another host.
    var identity: String {
        guard let range = segment.byteRange else { return reference }
        return "\(reference) \(range.offset)+\(range.length ?? -1)"
    }
}

/// The segments of a media playlist with their places in the text, each made when it is read: a playlist of a day has
/// tens of thousands of them.
package struct ListedSegments: RandomAccessCollection, Sendable {
    /// What stands before the address of a segment.
    private struct Row: Sendable {
        /// The date, in milliseconds; ``none`` without one.
        var date: Int64
        /// The place of the address in the entries.
        var entry: UInt32
        var isAfterDiscontinuity: Bool

        static let none = Int64.min
    }

    private let segments: [MediaSegment]
    private let entries: PlaylistEntries
    private var rows: [Row] = []
    /// The addresses of initialization segments, each with the first segment for which it stands.
    private var maps: [(first: Int, reference: String?)] = []

    init(_ segments: [MediaSegment], _ entries: PlaylistEntries) {
        (self.segments, self.entries) = (segments, entries)
        rows.reserveCapacity(segments.count)
        var (hasDuration, isAfterDiscontinuity, date) = (false, false, Row.none)
        // Texts are made for dates and initialization segments alone.
        for place in entries.indices {
            switch entries.name(of: place) {
            case "EXTINF": hasDuration = true
            case "EXT-X-DISCONTINUITY": isAfterDiscontinuity = true
            case "EXT-X-PROGRAM-DATE-TIME":
                date = CalendarText.wallTime(entries.text(of: place))?.milliseconds ?? Row.none
            case "EXT-X-MAP":
                guard case .tag(let tag) = entries[place] else { continue }
                maps.append((rows.count, tag.attributes["URI"].map(Self.reference)))
            case nil:
                if hasDuration, rows.count < segments.count {
                    let row = Row(date: date, entry: UInt32(place), isAfterDiscontinuity: isAfterDiscontinuity)
                    rows.append(row)
                }
                (hasDuration, isAfterDiscontinuity, date) = (false, false, Row.none)
            default: break
            }
        }
    }

    /// 0.
    package var startIndex: Int { 0 }
    /// The number of segments.
    package var endIndex: Int { rows.count }

    /// The segment at a position.
    package subscript(position: Int) -> ListedSegment {
        let row = rows[position]
        let map = maps.partitioningIndex { $0.first > position } - 1
        return ListedSegment(
            segment: segments[position],
            line: entries.line(of: Int(row.entry)),
            date: row.date == Row.none ? nil : WallTime(milliseconds: row.date),
            isAfterDiscontinuity: row.isAfterDiscontinuity,
            mapReference: map < 0 ? nil : maps[map].reference,
            entries: entries,
            entry: Int(row.entry)
        )
    }

    /// An address without what may differ from one response to the next.
    fileprivate static func reference(_ address: String) -> String {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        guard let authority = path.firstRange(of: "//"),
            ["", "http:", "https:"].contains(path[..<authority.lowerBound].lowercased())
        else { return String(path) }
        return String(path[authority.upperBound...].drop { $0 != "/" })
    }
}
