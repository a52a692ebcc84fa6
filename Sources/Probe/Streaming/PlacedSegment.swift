internal import Instrument
internal import InstrumentManifests

/// A segment on the presentation's timeline: computes the playable range, and the instants from which it is playable.
struct PlacedSegment: Sendable {
    let segment: MediaSegment
    let placement: StreamTimeline.Placement
    /// The arrival times of the segment's bytes.
    let log: ArrivalLog

    /// The media that has become playable.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of media in the track.
    ///   - usesPoints: whether media is playable before the segment is complete.
    ///   - fed: the offset of the last point that was returned before, by kind.
    func arrivals(
        of content: SegmentContent,
        _ kinds: Set<PlaybackModel.Track>,
        isWhole: Bool,
        usesPoints: Bool,
        fed: inout [PlaybackModel.Track: Int]
    ) -> [MediaArrival] {
        guard let last = log.last else { return [] }
        var found: [MediaArrival] = []
        for kind in PlaybackModel.Track.allCases where kinds.contains(kind) {
            guard let media = content[kind] else {
                // In a variant without pictures or without sound, time passes over the missing kind.
                if isWhole, let main = content.main {
                    found.append(MediaArrival(track: kind, end: end(main.end, of: main), instant: last))
                }
                continue
            }
            if usesPoints {
                found += points(of: media, kind, isWhole: isWhole, fed: &fed[kind], last)
            } else if isWhole {
                found.append(MediaArrival(track: kind, end: end(media.end, of: media), instant: last))
            }
        }
        return found
    }

    private func points(
        of media: TrackContent,
        _ kind: PlaybackModel.Track,
        isWhole: Bool,
        fed: inout Int?,
        _ last: MonotonicInstant
    ) -> [MediaArrival] {
        // At the end of a part, a demuxer may return a packet that is not complete.
        let limit = isWhole ? Int.max : log.count - 188
        let known = fed ?? -1
        var arrivals: [MediaArrival] = []
        for point in media.points where point.offset > known && point.offset <= limit {
            fed = point.offset
            let instant = log.instant(of: max(1, point.offset)) ?? last
            let arrival = MediaArrival(track: kind, end: end(point.end, of: media), instant: instant)
            // Of the frames that arrive at one instant, the last one tells all.
            if arrivals.last?.instant == instant {
                arrivals[arrivals.count - 1] = arrival
            } else {
                arrivals.append(arrival)
            }
        }
        return arrivals
    }

    private func end(_ end: Int64, of media: TrackContent) -> Int64 { Self.end(end, of: media, segment, placement) }

    /// Limits the end of media on the timeline. Timestamps that jump inside a segment must not extend the segment by a
    /// day: the gap is not playable, and the buffer would seem full.
    static func end(
        _ end: Int64,
        of media: TrackContent,
        _ segment: MediaSegment,
        _ placement: StreamTimeline.Placement?
    ) -> Int64 {
        let longest = segment.duration.saturatingAdd(max(segment.duration, 10_000_000_000))
        return min(end, media.start.saturatingAdd(longest)).saturatingAdd(placement?.offset ?? 0)
    }
}
