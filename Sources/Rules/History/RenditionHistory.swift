public import Instrument
internal import InstrumentManifests

/// The history of one rendition: the latest two playlists, and the latest segments.
public struct RenditionHistory: Sendable {
    /// The number of segments that are remembered.
    static let mostSegments = 64
    /// How many date ranges are remembered.
    static let mostDateRanges = 1_000
    /// How many attributes of a date range are remembered.
    static let mostAttributes = 100

    /// The rendition as the presentation names it.
    public let name: String
    /// The latest playlist; nil for DASH and before the first one.
    public private(set) var current: MediaPlaylistVersion?
    /// The latest playlist whose content differs from the current one; nil before the first change.
    public private(set) var previous: MediaPlaylistVersion?
    /// Whether the current playlist has just replaced one with other content.
    public private(set) var hasJustChanged = false
    /// The instant at which the current content was first observed.
    public private(set) var unchangedSince: MonotonicInstant?
    /// The segments that were fetched, in the order of their numbers; the newest.
    public private(set) var facts: [SegmentFacts] = []
    /// How far programme dates deviate from the sum of the segment durations.
    public private(set) var dates = DateDeviation()
    /// The attributes of date ranges by identifier, as first seen.
    public private(set) var dateRanges: [String: [String: String]] = [:]

    init(name: String) { self.name = name }

    /// The playlist that was seen just before the current one, if the current one differs from it.
    public var replaced: MediaPlaylistVersion? { hasJustChanged ? previous : nil }

    mutating func record(_ version: MediaPlaylistVersion) {
        hasJustChanged = false
        if let known = current, version.playlist.mediaSequence < known.playlist.mediaSequence {
            // The same numbers now mean other segments.
            (facts, dates) = ([], DateDeviation())
        }
        if let known = current, known.hasSameContent(as: version) {
            // Compared with the latest response, but dated by the first one with this content.
            current = version
        } else {
            hasJustChanged = current != nil
            previous = current
            current = version
            unchangedSince = version.fetched.instant
        }
        dates.record(version.segments)
    }

    mutating func remember(_ ranges: [(id: String, attributes: [String: String])]) {
        for range in ranges where dateRanges.count < Self.mostDateRanges {
            guard (dateRanges[range.id]?.count ?? 0) < Self.mostAttributes else { continue }
            dateRanges[range.id, default: [:]].merge(range.attributes) { first, _ in first }
        }
    }

    mutating func record(_ segment: SegmentFacts) {
        guard segment.failure == nil, segment.byteCount != nil else { return }
        if let place = facts.firstIndex(where: { $0.sequence >= segment.sequence }) {
            if facts[place].sequence == segment.sequence {
                facts[place] = segment
            } else {
                facts.insert(segment, at: place)
            }
        } else {
            facts.append(segment)
        }
        if facts.count > Self.mostSegments { facts.removeFirst() }
    }
}

/// The deviation of programme dates from the sum of the segment durations, over all playlists since a jump or a
/// discontinuity.
public struct DateDeviation: Hashable, Sendable {
    /// Deviation at the latest dated segment, in nanoseconds.
    public private(set) var deviation: Int64 = 0
    /// The segments since the first date.
    public private(set) var segmentCount = 0
    private var lastSequence: Int64?
    private var expected: WallTime?
    /// The part of a millisecond that `expected` leaves out, in nanoseconds.
    private var rest: Int64 = 0

    /// The largest deviation between two neighbours that counts as drift and not as a jump, in nanoseconds.
    static func tolerance(_ duration: Int64) -> Int64 { max(200_000_000, duration / 10) }

    mutating func record(_ segments: [ListedSegment]) {
        if let last = lastSequence, let first = segments.first?.segment.sequence,
            first > last.saturatingAdd(1) || (segments.last?.segment.sequence ?? first) < last.saturatingSubtract(1)
        {
            self = DateDeviation()
        }
        for listed in segments where listed.segment.sequence > lastSequence ?? .min { add(listed) }
    }

    private mutating func add(_ listed: ListedSegment) {
        lastSequence = listed.segment.sequence
        if listed.isAfterDiscontinuity { expected = nil }
        if let date = listed.date {
            if let expected {
                let found = date.nanoseconds(since: expected).saturatingSubtract(rest)
                let isJump =
                    found.saturatingSubtract(deviation).magnitude
                    > Self.tolerance(listed.segment.duration).magnitude
                if isJump { restart(at: date) } else { deviation = found }
            } else {
                restart(at: date)
            }
        }
        guard let start = expected else { return }
        segmentCount += 1
        let sum = rest.saturatingAdd(listed.segment.duration)
        expected = start.advanced(nanoseconds: sum / 1_000_000 * 1_000_000)
        rest = sum % 1_000_000
    }

    private mutating func restart(at date: WallTime) {
        (expected, rest, deviation, segmentCount) = (date, 0, 0, 0)
    }
}
