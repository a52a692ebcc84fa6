internal import Instrument

/// A frame, or a group of frames with one timestamp, in the order of decoding. Times are nanoseconds.
struct SegmentFrame: Hashable, Sendable {
    /// The decoding and presentation times; nil where only an earlier frame of the same packet has them.
    var times: Times?
    var isKeyframe: Bool
    /// The number of bytes of the segment up to the end of the frame.
    var offset: Int
    /// The playing time by the container; 0 if unknown.
    var duration: Int64 = 0

    struct Times: Hashable, Sendable {
        var decoded: Int64
        var shown: Int64
    }
}

/// The sums of a track's frames: where the media begins, ends and becomes playable.
struct TrackSummary: Hashable, Sendable {
    private static let longestFrame: Int64 = 10_000_000_000
    private static let latestTime: Int64 = 1 << 60

    private(set) var frameCount = 0
    private(set) var firstKeyframe: Int64?
    private var start = Int64.max
    private var end = Int64.min
    private var points: [TrackContent.Point] = []
    private var startsWithKeyframe = false
    private var largestGap: Int64 = 0
    /// The time of the last frame with a timestamp, the duration of a frame, and the number of later frames without a
    /// timestamp: in a packet of a transport stream, only the first frame has one.
    private var last: SegmentFrame.Times?
    private var frameDuration: Int64 = 0
    private var untimed: Int64 = 0
    /// The first decoding time, the number of frames from there to the last one with a timestamp, and the shortest and
    /// the longest distance of two of them.
    private var firstDecoded: Int64?
    private var stepCount: Int64 = 0
    private var steps: ClosedRange<Int64>?

    /// Adds a frame.
    ///
    /// - Parameter duration: the declared playing time in nanoseconds; 0 if unknown.
    mutating func add(_ frame: SegmentFrame, lasting duration: Int64) {
        let duration = min(max(0, duration), Self.longestFrame)
        if duration > 0 { frameDuration = duration }
        guard let times = frame.times, times.decoded.magnitude < Self.latestTime,
            times.shown.magnitude < Self.latestTime
        else { return addUntimed(at: frame.offset) }
        if frame.isKeyframe {
            if frameCount == 0 { startsWithKeyframe = true }
            if firstKeyframe == nil { firstKeyframe = times.shown }
        }
        measure(times)
        last = times
        untimed = 0
        frameCount += 1
        start = min(start, times.shown)
        // libavformat does not say how long sound in fragments plays; the second frame shows it too late for the first.
        extend(to: times.shown.saturatingAdd(frameDuration > 0 ? frameDuration : frame.duration), at: frame.offset)
    }

    /// The frames of a second; nil unless the distances of a second and more are about the same.
    var steadyRate: Double? {
        guard let steps, steps.upperBound <= steps.lowerBound / 2 * 3, let firstDecoded, let last else { return nil }
        let length = last.decoded.saturatingSubtract(firstDecoded)
        return length >= 900_000_000 ? Double(stepCount) * 1e9 / Double(length) : nil
    }

    /// The content; nil without frames.
    func content(codec: String) -> TrackContent? {
        guard frameCount > 0 else { return nil }
        return TrackContent(
            start: start,
            end: max(end, start),
            points: points,
            frameCount: frameCount,
            firstKeyframe: firstKeyframe,
            startsWithKeyframe: startsWithKeyframe,
            largestGap: largestGap,
            codec: codec
        )
    }

    /// Compares with the time of the frame before: the duration of a frame, and a gap.
    private mutating func measure(_ times: SegmentFrame.Times) {
        guard let last else {
            firstDecoded = times.decoded
            return
        }
        let step = times.decoded.saturatingSubtract(last.decoded)
        let perFrame = step / (untimed + 1)
        stepCount += untimed + 1
        steps = steps.map { min($0.lowerBound, perFrame)...max($0.upperBound, perFrame) } ?? perFrame...perFrame
        if frameDuration == 0 || untimed > 0, 1..<Self.longestFrame ~= perFrame { frameDuration = perFrame }
        let covered = frameDuration.saturatingMultiply(untimed + 1)
        largestGap = max(largestGap, step.saturatingSubtract(covered))
    }

    private mutating func addUntimed(at offset: Int) {
        guard let last else { return }
        untimed += 1
        frameCount += 1
        extend(to: last.shown.saturatingAdd(frameDuration.saturatingMultiply(untimed + 1)), at: offset)
    }

    private mutating func extend(to end: Int64, at offset: Int) {
        guard end > self.end else { return }
        self.end = end
        if let previous = points.last, previous.offset >= offset {
            points[points.count - 1].end = end
        } else {
            points.append(TrackContent.Point(offset: offset, end: end))
        }
    }
}
