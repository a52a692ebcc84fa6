internal import Instrument

/// Puts segments onto the presentation's timeline, whatever their own timestamps count from.
///
/// Within a discontinuity sequence one offset holds for all tracks, so that sound and picture stay together (RFC 8216
/// section 6.3.3). The first segment that comes sets it: it belongs where the playlist says. Afterwards timestamps
/// count, not the playlist's durations, whose rounding adds up. Where timestamps jump nevertheless, the segment is put
/// where the one before ended, as players do, and the jump is reported.
struct StreamTimeline: Hashable, Sendable {
    /// Where a segment belongs.
    struct Placement: Hashable, Sendable {
        /// What is to be added to its timestamps.
        var offset: Int64
        /// How far its timestamps were from where they should have been; nil if they were right.
        var jump: Int64?
    }

    /// What is said of a segment by its playlist.
    struct Expectation: Hashable, Sendable {
        /// Which timestamps belong together.
        var discontinuity: Int64
        var start: Int64
        var duration: Int64
        /// Which timestamp of the media belongs at the start, where the manifest says it (DASH).
        var mediaTime: Int64?
        /// Where the segment before it in the same rendition ended, if that is known.
        var previousEnd: Int64?
    }

    /// A step between two segments is none: a frame or two may be missing or be there twice.
    private static let tolerance: Int64 = 1_000_000_000
    /// After a jump of the person or a switch: playlists may be wrong by so much.
    private static let drift: Int64 = 10_000_000_000

    /// A live stream lasts for days: older discontinuities are not needed.
    static let capacity = 64

    private var offsets: [Int64: Int64] = [:]
    /// How many discontinuity sequences are remembered.
    var count: Int { offsets.count }

    /// Where a segment belongs whose timestamps begin at `first`.
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

    /// The timestamp that belongs at the segment's start: what the manifest says, if the media agrees, else the first.
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
