internal import Instrument

/// Live streams: the part that can be sought, and the distance from its end.
extension AVPlayerModel {
    /// Whether the media has no end. A duration that is not loaded yet has no seekable part.
    var isLive: Bool { values.duration == nil && window != nil }

    /// How far the playhead is behind the live edge, in seconds; nil if the media is not live.
    func liveOffset(at instant: MonotonicInstant) -> Double? {
        guard isLive, let edge = window?.end, let position = position(at: instant) else { return nil }
        return edge - position
    }

    mutating func windowChanged(to window: SeekableWindow) {
        guard let start = MediaTime.position(window.start), let end = MediaTime.position(window.end), start <= end
        else { return }
        self.window = window
    }

    /// Whether a movement is the player's, which restores its distance from the live edge after a wait.
    func keepsLiveOffset(movingTo position: Double, at now: MonotonicInstant) -> Bool {
        guard isLive, let window, window.keepsOffset, let offset = wait.offset, let sample, position > sample.position,
            isBuffering || wait.end.map({ Self.isOneChange($0, now) }) ?? false
        else { return false }
        return abs(window.end - position - offset) <= Self.offsetTolerance
    }
}

/// The latest wait for data of a live stream.
struct LiveWait: Hashable {
    /// How far the playhead was behind the live edge when the wait began, in seconds.
    var offset: Double?
    /// The end of the wait; nil while it lasts.
    var end: MonotonicInstant?
}
