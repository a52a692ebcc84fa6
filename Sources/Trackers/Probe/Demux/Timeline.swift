internal import Instrument

/// Converts a container's timestamps to nanoseconds from the start of the media, with any input.
///
/// Where timestamps jump (concatenated streams, a clock that wrapped, wrong timestamps), the following packets are
/// shifted to the expected position, as players do. A track that jumps first tries the shift of the track that jumped
/// last, so that sound and picture stay synchronous.
struct Timeline: Hashable, Sendable {
    /// The presentation time, decoding time and duration of a packet, in nanoseconds; nil and 0 where the container
    /// does not declare them.
    struct Stamp: Hashable, Sendable {
        var shown: Int64?
        var decoded: Int64?
        var duration: Int64 = 0
    }

    private struct Lane: Hashable {
        var shift: Int64?
        /// The expected decoding time of the next packet.
        var expected: Int64?
        var lastDuration: Int64 = 0
    }

    /// The differences from the expected timestamp that are no jump, in a container whose timestamps may jump.
    private static let joint: ClosedRange<Int64> = -500_000_000...10_000_000_000
    /// The same in other containers, where pictures may stand for minutes and only a wrong timestamp differs by more.
    private static let lie: ClosedRange<Int64> = -3_600_000_000_000...3_600_000_000_000

    private let continuous: ClosedRange<Int64>
    private var origin: Int64?
    private var lastShift: Int64?
    private var target: Int64 = 0
    private var lanes: [PlaybackModel.Track: Lane] = [:]

    /// - Parameters:
    ///   - origin: the timestamp of the media's start; nil takes the first packet's timestamp.
    ///   - mayJump: whether timestamps of this container may jump by design.
    init(origin: Int64?, mayJump: Bool) {
        self.origin = origin
        continuous = mayJump ? Self.joint : Self.lie
    }

    /// The presentation interval of a packet.
    mutating func place(_ stamp: Stamp, of track: PlaybackModel.Track) -> (start: Int64, end: Int64) {
        var lane = lanes[track] ?? Lane()
        defer { lanes[track] = lane }
        let duration = stamp.duration > 0 ? min(stamp.duration, continuous.upperBound) : lane.lastDuration
        lane.lastDuration = duration
        // A timestamp near the limits of the range is invalid, and a shift would overflow.
        guard let decoded = stamp.decoded ?? stamp.shown, decoded.magnitude < 1 << 62 else {
            let start = lane.expected ?? target
            lane.expected = start.saturatingAdd(duration)
            return (start, start.saturatingAdd(duration))
        }
        let first = origin ?? decoded
        origin = first
        let shift = shift(for: decoded, in: lane, origin: first)
        if lane.shift != nil, shift != lane.shift { lastShift = shift }
        lane.shift = shift
        lane.expected = decoded.saturatingAdd(shift).saturatingAdd(duration)
        let start = max(0, (stamp.shown ?? decoded).saturatingAdd(shift))
        return (start, start.saturatingAdd(duration))
    }

    /// Playback continues at `target`: forgets all jumps.
    mutating func restart(at target: Int64) {
        self.target = target
        lastShift = nil
        for track in lanes.keys { lanes[track]?.shift = nil }
        for track in lanes.keys { lanes[track]?.expected = nil }
    }

    private func shift(for decoded: Int64, in lane: Lane, origin: Int64) -> Int64 {
        let shift = lane.shift ?? lastShift ?? Int64(0).saturatingSubtract(origin)
        func step(_ shift: Int64, from expected: Int64) -> Int64 {
            decoded.saturatingAdd(shift).saturatingSubtract(expected)
        }
        guard let expected = lane.expected else {
            // A track's first packet may have any position near the playhead.
            return Self.lie.contains(step(shift, from: target)) ? shift : target.saturatingSubtract(decoded)
        }
        if continuous.contains(step(shift, from: expected)) { return shift }
        if let lastShift, continuous.contains(step(lastShift, from: expected)) { return lastShift }
        return expected.saturatingSubtract(decoded)
    }
}
