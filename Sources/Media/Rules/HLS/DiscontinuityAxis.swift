internal import Instrument
internal import InstrumentManifests

/// The segments of a playlist on an axis of time that it shares with another variant: by their dates, else by their
/// distance from the start of a presentation on demand. Sequence numbers do not say which segments match (RFC 8216bis
/// section 4.4.3.2).
struct DiscontinuityAxis {
    /// More segments than this at one time say nothing, and comparing them all would cost too much.
    private static let mostMatches = 64

    /// The segments in the order of their times, in nanoseconds.
    private var points: [(time: Int64, listed: ListedSegment)]

    private init(_ playlist: MediaPlaylistVersion, since origin: WallTime?) {
        points = playlist.segments.compactMap { listed in
            guard let origin else { return (listed.segment.start, listed) }
            return listed.segment.wallTime.map { ($0.nanoseconds(since: origin), listed) }
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
        for (time, listed) in mine.points {
            // Sums of durations differ by up to a segment, where the segments of the variants have other lengths.
            let tolerance = isDated ? listed.segment.duration / 4 : playlist.playlist.targetDuration
            let matches = theirs.points(within: tolerance, of: time)
            guard let match = matches.first, matches.count <= mostMatches else { continue }
            if matches.allSatisfy({ $0.listed.segment.discontinuity != listed.segment.discontinuity }) {
                return (listed, match.listed)
            }
        }
        return nil
    }

    private func points(within tolerance: Int64, of time: Int64) -> ArraySlice<(time: Int64, listed: ListedSegment)> {
        let (first, last) = (time.saturatingSubtract(tolerance), time.saturatingAdd(tolerance))
        let start = points.partitioningIndex { $0.time >= first }
        return points[start...].prefix(Self.mostMatches + 1).prefix { $0.time <= last }
    }
}

extension MediaPlaylistVersion {
    /// Whether the first segment is the beginning of a presentation on demand, which all variants have in common.
    fileprivate var startsWithPresentation: Bool {
        playlist.hasEnded
            && (playlist.mediaSequence <= 1 || tags("EXT-X-PLAYLIST-TYPE").contains { $0.value == "VOD" })
    }
}
