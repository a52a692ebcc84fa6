internal import Instrument

/// Places segments on the presentation's timeline, for any origin of their timestamps.
///
/// An MPD declares the offset of a representation in a period: the start of the period minus `@presentationTimeOffset`
/// (ISO/IEC 23009-1 section 5.3.9.2.2). A segment whose timestamps begin where the MPD declares it gets this offset.
///
/// All other tracks of a discontinuity sequence have one offset, so that sound and picture stay synchronous (RFC 8216
/// section 6.3.3). The first segment determines the offset from its place in the playlist. Later segments follow their
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
        /// The position of the segment's first media.
        var start: Int64
        var duration: Int64
        /// The offset to add to its timestamps, if the manifest declares it (DASH).
        var offset: Int64?
        /// The end of the previous segment of the rendition, if known.
        var previousEnd: Int64?
    }

    /// What segments with one offset have in common.
    private struct OffsetKey: Hashable {
        var discontinuity: Int64
        var declaredOffset: Int64?
    }

    /// The largest step between two segments that is not a jump: one or two frames may be missing or duplicated.
    private static let tolerance: Int64 = 1_000_000_000
    /// The same after a seek or a switch: the largest error of playlists.
    private static let drift: Int64 = 10_000_000_000

    /// The number of stored discontinuity sequences: live streams last for days, and do not need older ones.
    static let capacity = 64

    private var offsets: [OffsetKey: Int64] = [:]
    /// The number of stored discontinuity sequences.
    var count: Int { offsets.count }

    /// The place of a segment whose timestamps begin at `first`.
    mutating func place(_ first: Int64, of content: SegmentContent, expected: Expectation) -> Placement {
        let target = expected.previousEnd ?? expected.start
        guard content.hasTimeline else { return Placement(offset: target.saturatingSubtract(first)) }
        let key = OffsetKey(discontinuity: expected.discontinuity, declaredOffset: expected.offset)
        if let declared = expected.offset, begins(first.saturatingAdd(declared), at: expected.start) {
            note(declared, of: key)
            return Placement(offset: declared)
        }
        guard let known = offsets[key] else {
            let offset = expected.start.saturatingSubtract(first)
            note(offset, of: key)
            return Placement(offset: offset)
        }
        let offset = unwrapped(known, first, near: target, wrap: content.wrap)
        let deviation = first.saturatingAdd(offset).saturatingSubtract(target)
        let allowed =
            expected.previousEnd != nil
            ? Self.tolerance : max(Self.drift, expected.duration.saturatingMultiply(2))
        if deviation.magnitude <= UInt64(allowed) { return Placement(offset: offset) }
        let corrected = offset.saturatingSubtract(deviation)
        note(corrected, of: key)
        return Placement(offset: corrected, jump: deviation)
    }

    private mutating func note(_ offset: Int64, of key: OffsetKey) {
        offsets[key] = offset
        guard offsets.count > Self.capacity else { return }
        if let oldest = offsets.keys.min(by: { $0.discontinuity < $1.discontinuity }) { offsets[oldest] = nil }
    }

    private func begins(_ position: Int64, at declared: Int64) -> Bool {
        position.saturatingSubtract(declared).magnitude <= UInt64(Self.tolerance)
    }

    private func unwrapped(_ offset: Int64, _ first: Int64, near target: Int64, wrap: Int64?) -> Int64 {
        guard let wrap, wrap > 0 else { return offset }
        let distance = target.saturatingSubtract(first.saturatingAdd(offset))
        let turns = (Double(distance) / Double(wrap)).rounded()
        return offset.saturatingAdd(wrap.saturatingMultiply(Int64(clamping: turns)))
    }
}
