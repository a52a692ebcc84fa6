internal import Instrument

/// Places segments on the presentation's timeline, for any origin of their timestamps.
///
/// All tracks of a discontinuity sequence have one offset, so that sound and picture stay synchronous (RFC 8216 section
/// 6.3.3). The first segment determines the offset from its place in the playlist. Later segments follow their
/// timestamps, not the playlist's durations, whose rounding errors add up. If timestamps jump, the segment starts at
/// the end of the previous one, as in players, and the jump is reported.
struct StreamTimeline: Hashable, Sendable {
    /// The place of a segment.
    struct Placement: Hashable, Sendable {
        /// The offset to add to its timestamps.
        var offset: Int64
        /// The distance between its timestamps and the expected ones; nil without a jump.
        var jump: Int64?
    }

    /// The declaration of a segment in its playlist.
    struct Expectation: Hashable, Sendable {
        /// The number of the discontinuity sequence.
        var discontinuity: Int64
        var start: Int64
        var duration: Int64
        /// The media timestamp at the segment's start, if the manifest declares it (DASH).
        var mediaTime: Int64?
        /// The end of the previous segment of the rendition, if known.
        var previousEnd: Int64?
    }

    /// The largest step between two segments that is not a jump: one or two frames may be missing or duplicated.
    private static let tolerance: Int64 = 1_000_000_000
    /// The same after a seek or a switch: the largest error of playlists.
    private static let drift: Int64 = 10_000_000_000

    /// The number of stored discontinuity sequences: live streams last for days, and do not need older ones.
    static let capacity = 64

    private var offsets: [Int64: Int64] = [:]
    /// The number of stored discontinuity sequences.
    var count: Int { offsets.count }

    /// The place of a segment whose timestamps begin at `first`.
    mutating func place(_ first: Int64, of content: SegmentContent, expected: Expectation) -> Placement {
        let target = expected.previousEnd ?? expected.start
        guard content.hasTimeline else { return Placement(offset: target.saturatingSubtract(first)) }
        guard let known = offsets[expected.discontinuity] else {
            let offset = expected.start.saturatingSubtract(anchor(first, expected))
            offsets[expected.discontinuity] = offset
            if offsets.count > Self.capacity, let oldest = offsets.keys.min() { offsets[oldest] = nil }
            return Placement(offset: offset)
        }
        let offset = unwrapped(known, first, near: target, wrap: content.wrap)
        let deviation = first.saturatingAdd(offset).saturatingSubtract(target)
        let allowed =
            expected.previousEnd != nil
            ? Self.tolerance : max(Self.drift, expected.duration.saturatingMultiply(2))
        if deviation.magnitude <= UInt64(allowed) { return Placement(offset: offset) }
        let corrected = offset.saturatingSubtract(deviation)
        offsets[expected.discontinuity] = corrected
        return Placement(offset: corrected, jump: deviation)
    }

    /// The timestamp at the segment's start: the manifest's, if the media agrees, else the first timestamp.
    private func anchor(_ first: Int64, _ expected: Expectation) -> Int64 {
        guard let said = expected.mediaTime else { return first }
        return first.saturatingSubtract(said).magnitude <= UInt64(Self.tolerance) ? said : first
    }

    private func unwrapped(_ offset: Int64, _ first: Int64, near target: Int64, wrap: Int64?) -> Int64 {
        guard let wrap, wrap > 0 else { return offset }
        let distance = target.saturatingSubtract(first.saturatingAdd(offset))
        let turns = (Double(distance) / Double(wrap)).rounded()
        return offset.saturatingAdd(wrap.saturatingMultiply(Int64(clamping: turns)))
    }
}
