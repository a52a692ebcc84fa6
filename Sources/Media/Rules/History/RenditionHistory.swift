package import Instrument
internal import InstrumentManifests

/// The history of one rendition: the latest two playlists, and the latest segments.
package struct RenditionHistory: Sendable {
    /// The number of segments that are remembered.
    static let mostSegments = 64
    /// How many date ranges are remembered.
    static let mostDateRanges = 1_000
    /// How many attributes of a date range are remembered.
    static let mostAttributes = 100

    /// The rendition as the presentation names it.
    package let name: String
    /// The latest playlist; nil for DASH and before the first one.
    package private(set) var current: MediaPlaylistVersion?
    /// The latest playlist whose content differs from the current one; nil before the first change.
    package private(set) var previous: MediaPlaylistVersion?
    /// Whether the current playlist has just replaced one with other content.
    package private(set) var hasJustChanged = false
    /// The instant at which the newest segment was first observed.
    package private(set) var edgeSince: MonotonicInstant?
    /// The media that were added since a first playlist; nil before the first one.
    package private(set) var growth: Growth?
    /// The segments that were fetched, in the order of their numbers; the newest.
    package private(set) var facts: [SegmentFacts] = []
    /// How far programme dates deviate from the sum of the segment durations.
    package private(set) var dates = DateDeviation()
    /// The attributes of date ranges by identifier, as first seen.
    package private(set) var dateRanges: [String: [String: String]] = [:]

    /// The media that a playlist has published since a first version of it, without a gap.
    package struct Growth: Hashable, Sendable {
        /// The instant at which the first version was observed.
        package var start: MonotonicInstant
        /// The duration of the segments that are newer than those of the first version, in nanoseconds.
        package var published: Int64 = 0

        fileprivate func adding(_ version: MediaPlaylistVersion, after known: MediaPlaylistVersion?) -> Growth? {
            guard let last = known?.playlist.segments.last?.sequence, let first = version.playlist.segments.first,
                let newest = version.playlist.segments.last, first.sequence <= last.saturatingAdd(1),
                newest.sequence >= last
            else { return nil }
            var growth = self
            for segment in version.playlist.segments.reversed().prefix(while: { $0.sequence > last }) {
                growth.published = growth.published.saturatingAdd(segment.duration)
            }
            return growth
        }
    }

    init(name: String) { self.name = name }

    /// The playlist that was seen just before the current one, if the current one differs from it.
    package var replaced: MediaPlaylistVersion? { hasJustChanged ? previous : nil }

    /// Whether the current playlist has a segment with a negative duration, which counts as 0.
    var hasNegativeDuration: Bool {
        current?.playlist.notices.contains { $0.subject == .negativeDuration } == true
    }

    /// The tags that the current playlist, or the one that it has just replaced, has under names that are written
    /// wrongly.
    var miswrittenTags: Set<TagName> {
        (current?.playlist.miswrittenTags ?? []).union(replaced?.playlist.miswrittenTags ?? [])
    }

    mutating func record(_ version: MediaPlaylistVersion) {
        hasJustChanged = false
        if let known = current, version.playlist.mediaSequence < known.playlist.mediaSequence {
            // The same numbers now mean other segments.
            (facts, dates) = ([], DateDeviation())
        }
        growth = growth.flatMap { $0.adding(version, after: current) } ?? Growth(start: version.fetched.instant)
        if current?.edge != version.edge { edgeSince = version.fetched.instant }
        if let known = current, !known.hasSameContent(as: version) {
            hasJustChanged = true
            previous = known
        }
        current = version
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
package struct DateDeviation: Hashable, Sendable {
    /// Deviation at the latest dated segment, in nanoseconds.
    package private(set) var deviation: Int64 = 0
    /// The segments since the first date.
    package private(set) var segmentCount = 0
    private var lastSequence: Int64?
    private var expected: WallTime?
    /// The part of a millisecond that `expected` leaves out, in nanoseconds.
    private var rest: Int64 = 0

    /// The largest deviation that is no fault, in nanoseconds: dates may overlap by less than a second, to follow a
    /// clock that is not the encoder's (RFC 8216bis section 6.2.1).
    static let largest: Int64 = 1_000_000_000

    /// The largest deviation between two neighbours that counts as drift and not as a jump, in nanoseconds.
    static func tolerance(_ duration: Int64) -> Int64 { max(largest, duration / 10) }

    mutating func record(_ segments: ListedSegments) {
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
