internal import Instrument
internal import InstrumentManifests

/// A segment on the presentation's timeline: computes the playable range, and the instants from which it is playable.
struct PlacedSegment: Sendable {
    let segment: MediaSegment
    let placement: StreamTimeline.Placement
    /// The arrival times of the segment's bytes.
    let log: ArrivalLog
    /// How far the player's demuxer reads beyond a frame.
    var lookahead = PlayerProfile.DemuxerLookahead()
    /// The ends of earlier pictures that the demuxer has not returned.
    var heldPictures: [Int64] = []

    /// The media that has become playable.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of media in the track.
    ///   - usesPoints: whether media is playable before the segment is complete.
    ///   - fed: the end of the last point that was returned before, by kind.
    func arrivals(
        of content: SegmentContent,
        _ kinds: Set<PlaybackModel.Track>,
        isWhole: Bool,
        usesPoints: Bool,
        fed: inout [PlaybackModel.Track: Int64]
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
                // The bytes that a last frame may lack, at most a packet of a transport stream.
                let missing = isWhole || content.hasCompleteFrames ? 0 : TransportPacket.size
                let points = points(of: media, kind, content)
                found += arrivals(of: points, kind, isWhole: isWhole, upTo: log.count - missing, fed: &fed[kind])
            } else if isWhole {
                found.append(MediaArrival(track: kind, end: end(media.end, of: media), instant: last))
            }
        }
        return found
    }

    /// The pictures that the demuxer does not return before it has read the next segment.
    func picturesToHold(of content: SegmentContent) -> [Int64] {
        guard holdsPictures(of: content), let video = content.video else { return [] }
        return (heldPictures + video.points.map { end($0.end, of: video) }).suffix(lookahead.pictures)
    }

    /// Where a packet does not say how long it is, the next one shows its end.
    private func holdsPictures(of content: SegmentContent) -> Bool { content.wrap != nil && lookahead.pictures > 0 }

    /// The points on the timeline, each with the offset at which the demuxer returns its frame.
    private func points(
        of media: TrackContent,
        _ kind: PlaybackModel.Track,
        _ content: SegmentContent
    ) -> [TrackContent.Point] {
        let points = media.points.map { TrackContent.Point(offset: $0.offset, end: end($0.end, of: media)) }
        guard kind == .video, holdsPictures(of: content) else { return points }
        let ends = heldPictures + points.map(\.end)
        let later = points.dropFirst(lookahead.pictures - heldPictures.count)
        return zip(ends, later).map { TrackContent.Point(offset: $1.offset, end: $0) }
    }

    private func arrivals(
        of points: [TrackContent.Point],
        _ kind: PlaybackModel.Track,
        isWhole: Bool,
        upTo limit: Int,
        fed: inout Int64?
    ) -> [MediaArrival] {
        let known = fed ?? .min
        var arrivals: [MediaArrival] = []
        for point in points where point.end > known {
            let block = (max(1, point.offset) + lookahead.blockSize - 1) / lookahead.blockSize * lookahead.blockSize
            let offset = isWhole ? min(block, log.count) : block
            guard isWhole || point.offset <= limit, let instant = log.instant(of: offset) else { break }
            fed = point.end
            let arrival = MediaArrival(track: kind, end: point.end, instant: instant)
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
    /// day: the gap is not playable, and the buffer would seem full. What a segment has behind its period or the end of
    /// the presentation is not shown (ISO/IEC 23009-1 section 5.3.2.1).
    static func end(
        _ end: Int64,
        of media: TrackContent,
        _ segment: MediaSegment,
        _ placement: StreamTimeline.Placement?
    ) -> Int64 {
        let longest = segment.duration.saturatingAdd(max(segment.duration, 10_000_000_000))
        let placed = min(end, media.start.saturatingAdd(longest)).saturatingAdd(placement?.offset ?? 0)
        return segment.trimmedEnd > 0 ? min(placed, segment.end) : placed
    }
}
