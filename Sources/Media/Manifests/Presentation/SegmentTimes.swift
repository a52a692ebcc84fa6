package import Instrument

/// The number and the times of a segment without its address, which a template has to make of text.
package struct SegmentTimes: Hashable, Sendable {
    /// ``MediaSegment/sequence``.
    package var sequence: Int64
    /// ``MediaSegment/start``.
    package var start: Int64
    /// ``MediaSegment/duration``.
    package var duration: Int64
    /// ``MediaSegment/availability``.
    package var availability: WallTime?
    /// ``MediaSegment/completion``.
    package var completion: WallTime?

    /// ``MediaSegment/end``.
    package var end: Int64 { start.saturatingAdd(duration) }
}

extension MediaSegment {
    var times: SegmentTimes {
        SegmentTimes(
            sequence: sequence,
            start: start,
            duration: duration,
            availability: availability,
            completion: completion
        )
    }
}
