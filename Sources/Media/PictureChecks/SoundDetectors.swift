/// Decoded sound: samples from -1 to 1 for each channel.
package struct SoundBuffer: Hashable, Sendable {
    /// The instant at which the first sample plays, in nanoseconds of the media.
    package var time: Int64
    /// Samples per second.
    package var sampleRate: Int
    /// The samples of each channel; all channels have the same number.
    package var channels: [[Float]]

    /// Creates a buffer.
    package init(time: Int64, sampleRate: Int, channels: [[Float]]) {
        self.time = time
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// The number of samples of each channel.
    package var frameCount: Int { channels.map(\.count).min() ?? 0 }

    /// The instant at which the last sample ends, in nanoseconds of the media.
    package var end: Int64 {
        guard sampleRate > 0 else { return time }
        let (length, overflow) = Int64(frameCount).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? time : time &+ length / Int64(sampleRate)
    }
}

/// Detects intervals of silence: blocks of a tenth of a second whose loudest sample stays below a limit.
package struct SilenceDetector: Hashable, Sendable {
    /// -60 dB below full scale.
    package static let limit: Float = 0.001

    private var tracker: IntervalTracker
    private var peak: Float = 0
    private var count = 0
    private var blockStart: Int64 = 0
    private var lastEnd: Int64?

    /// Creates a detector that reports intervals of at least `minimum`.
    package init(minimum: Duration) { tracker = IntervalTracker(minimum: minimum) }

    /// Takes the next samples; returns the silent intervals that end in them.
    package mutating func take(_ buffer: SoundBuffer) -> [MediaInterval] {
        guard buffer.sampleRate > 0 else { return [] }
        let blockLength = max(1, buffer.sampleRate / 10)
        var ended: [MediaInterval] = []
        for position in 0..<buffer.frameCount {
            if count == 0 {
                blockStart = buffer.time &+ Int64(position) &* 1_000_000_000 / Int64(buffer.sampleRate)
            }
            for channel in buffer.channels { peak = max(peak, abs(channel[position])) }
            count += 1
            guard count >= blockLength else { continue }
            let end = buffer.time &+ Int64(position + 1) &* 1_000_000_000 / Int64(buffer.sampleRate)
            if let interval = tracker.take(blockStart, until: end, peak <= Self.limit) { ended.append(interval) }
            (peak, count) = (0, 0)
        }
        lastEnd = buffer.end
        return ended
    }

    /// The silent interval that has not ended and is already long enough; nil without one.
    package var current: MediaInterval? { tracker.current }

    /// Ends the media; returns the silent interval that lasts until then.
    package mutating func finish() -> MediaInterval? {
        if count > 0, let interval = tracker.take(blockStart, until: lastEnd, peak <= Self.limit) {
            (peak, count) = (0, 0)
            return interval
        }
        return tracker.finish()
    }
}
