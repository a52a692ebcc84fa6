internal import Instrument
internal import InstrumentManifests

/// The segments of a playlist on an axis of time that it shares with another variant: by their dates, else by their
/// distance from the start of a presentation on demand. Sequence numbers do not say which segments match (RFC 8216bis
/// section 4.4.3.2).
struct DiscontinuityAxis {
    /// More segments than this at one time say nothing, and comparing them all would cost too much.
    private static let mostMatches = 64

    /// The places of the segments in the order of their times, in nanoseconds.
    private var points: [(time: Int64, place: Int)]

    private init(_ playlist: MediaPlaylistVersion, since origin: WallTime?) {
        points = zip(playlist.segments.indices, playlist.playlist.segments).compactMap { place, segment in
            guard let origin else { return (segment.start, place) }
            return segment.wallTime.map { ($0.nanoseconds(since: origin), place) }
        }
        // Dates go back where an advertisement is followed by the programme.
        points.sort { $0.time < $1.time }
    }

    /// A segment of one playlist, and one of the other with the same media, if none of those with the same media has
    /// the same discontinuity number.
    static func mismatch(
        _ playlist: MediaPlaylistVersion,
        _ other: MediaPlaylistVersion
    ) -> (ListedSegment, ListedSegment)? {
        let origin = playlist.segments.first?.segment.wallTime
        let isDated = origin != nil && other.segments.first?.segment.wallTime != nil
        guard isDated || playlist.startsWithPresentation && other.startsWithPresentation else { return nil }
        let mine = DiscontinuityAxis(playlist, since: isDated ? origin : nil)
        let theirs = DiscontinuityAxis(other, since: isDated ? origin : nil)
        for (time, place) in mine.points {
            let segment = playlist.playlist.segments[place]
            // Sums of durations differ by up to a segment, where the segments of the variants have other lengths.
            let tolerance = isDated ? segment.duration / 4 : playlist.playlist.targetDuration
            let matches = theirs.points(within: tolerance, of: time)
            guard let match = matches.first, matches.count <= mostMatches else { continue }
            let others = other.playlist.segments
            if matches.allSatisfy({ others[$0.place].discontinuity != segment.discontinuity }) {
                return (playlist.segments[place], other.segments[match.place])
            }
        }
        return nil
    }

    private func points(within tolerance: Int64, of time: Int64) -> ArraySlice<(time: Int64, place: Int)> {
        let (first, last) = (time.saturatingSubtract(tolerance), time.saturatingAdd(tolerance))
        let start = points.partitioningIndex { $0.time >= first }
        return points[start...].prefix(Self.mostMatches + 1).prefix { $0.time <= last }
    }
}
