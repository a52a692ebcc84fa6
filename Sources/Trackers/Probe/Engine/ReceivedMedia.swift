internal import Instrument

/// Sums of the media that arrived, and the gate that holds video back until its first keyframe.
struct ReceivedMedia {
    private(set) var bytes = 0
    /// The end of the furthest media, in nanoseconds of the media's time.
    private(set) var end: Int64 = 0
    /// The time before ``end`` of which nothing arrived, because playback began or continued behind it.
    private var passed: Int64 = 0
    private var hasKeyframe = false
    /// The number of consecutive packets that did not extend the buffer.
    private var idlePackets = 0

    /// More than any media needs between two keyframes, or until a track that lags catches up.
    private static var mostIdlePackets: Int { 200_000 }

    /// Counts a packet. Returns false for video before the first keyframe: nothing can be shown yet.
    mutating func count(_ packet: Packet) -> Bool {
        bytes += packet.size
        end = max(end, packet.end)
        guard packet.track == .video else { return true }
        if packet.isKeyframe { hasKeyframe = true }
        return hasKeyframe
    }

    /// Whether the media is in segments that a manifest lists.
    var isOfStream = false

    /// Counts bytes of media.
    mutating func count(bytes count: Int) { bytes = bytes.saturatingAdd(count) }

    /// Media up to `position` arrived.
    mutating func reach(_ position: Int64) { end = max(end, position) }

    /// The viewer jumped over media up to `position`.
    mutating func passOver(to position: Int64) {
        passed = passed.saturatingAdd(max(0, position.saturatingSubtract(end)))
        reach(position)
    }

    /// Counts packets in a row that did not extend the buffer. Returns true once there are too many.
    mutating func countIdle(extended: Bool) -> Bool {
        idlePackets = extended ? 0 : idlePackets + 1
        return idlePackets > Self.mostIdlePackets
    }

    /// A jump: video waits for its next keyframe.
    mutating func awaitKeyframe() { hasKeyframe = false }

    /// A jump was refused: the media continues where it was.
    mutating func resumeWithoutKeyframe() { hasKeyframe = true }

    /// The mean bit rate of what arrived, over the time that it plays; nil before media.
    var meanBitrate: Int? {
        let duration = end.saturatingSubtract(passed)
        guard duration > 0, bytes > 0 else { return nil }
        return Int(clamping: Int64(clamping: Double(bytes) * 8e9 / Double(duration)))
    }

    /// The error of media that ends early, as a viewer would call it: a good part is missing. Spared are guessed
    /// durations and small differences.
    func prematureEnd(of info: MediaInfo, from source: MediaSource) -> ProbeError? {
        if end == 0 {
            let message =
                isOfStream
                ? "the stream has no segment that can be played now; check whether it is over, or lists no media"
                : "the source has no pictures and no sound to play; check what the encoder or the packager wrote"
            return ProbeError(.endedEarly, .read, source, message)
        }
        guard let declared = info.duration, !info.isDurationEstimated else { return nil }
        let missing = declared - end
        guard missing > max(1_000_000_000, declared / 50) else { return nil }
        let seconds = { (nanoseconds: Int64) in "\((Double(nanoseconds) / 1e8).rounded() / 10) s" }
        let reason =
            isOfStream ? "segments are shorter than declared, or cut" : "the file or the transfer is truncated"
        let message = "the media ends after \(seconds(end)), expected \(seconds(declared)); \(reason)"
        return ProbeError(.endedEarly, .read, source, message)
    }
}
