internal import CFFmpeg

/// Turns one track's timestamps into nanoseconds from the start of the media, whatever the media claims.
struct Timeline {
    let track: PlaybackModel.Track
    private let base: AVRational
    private let largestJump: Int64
    /// The timestamp of the media's start; nil until the first packet if the container does not say.
    var origin: Int64?
    private var lastEnd: Int64?

    init(track: PlaybackModel.Track, base: AVRational, largestJump: Int64) {
        self.track = track
        self.base = base
        self.largestJump = largestJump
    }

    /// After a jump that was asked for, any timestamp is right.
    mutating func forgetLast() { lastEnd = nil }

    /// When a packet is shown and until when. One without a timestamp follows on the last; one that jumps by more than
    /// `largestJump` does, too, and those after it keep their distance to it.
    mutating func times(of packet: AVPacket) -> (start: Int64, end: Int64) {
        let duration = packet.duration > 0 ? min(nanoseconds(packet.duration), largestJump) : 0
        let stamp = packet.pts != ffmpeg_no_timestamp ? packet.pts : packet.dts
        guard stamp != ffmpeg_no_timestamp else { return follow(duration) }
        let time = nanoseconds(stamp)
        if origin == nil { origin = time }
        var start = time.saturatingSubtract(origin ?? 0)
        if let lastEnd, abs(start.saturatingSubtract(lastEnd).clampedToMax) > largestJump {
            origin = time.saturatingSubtract(lastEnd)
            start = lastEnd
        }
        let end = start.saturatingAdd(duration)
        lastEnd = max(lastEnd ?? 0, end)
        return (max(0, start), max(0, end))
    }

    private mutating func follow(_ duration: Int64) -> (start: Int64, end: Int64) {
        let start = lastEnd ?? 0
        lastEnd = start.saturatingAdd(duration)
        return (start, start.saturatingAdd(duration))
    }

    private func nanoseconds(_ stamp: Int64) -> Int64 {
        guard base.num > 0, base.den > 0 else { return 0 }
        return av_rescale_q(stamp, base, AVRational(num: 1, den: 1_000_000_000))
    }
}

extension Int64 {
    func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    func multipliedSaturating(by factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? ((self < 0) == (factor < 0) ? .max : .min) : product
    }

    /// Never `.min`, whose absolute value does not fit.
    fileprivate var clampedToMax: Int64 { Swift.max(self, -.max) }
}
