internal import Instrument

/// A read-only copy of the playback's state, for one decision about loading.
struct PlaybackView: Sendable {
    let now: Timestamp
    /// The model; nil before the tracks are known.
    let model: PlaybackModel?
    /// The start position, before the model exists.
    let pendingSeek: Int64?
    /// The factor by which live catch-up changes the playback rate.
    let catchUpRate: Double
    /// The number of stalls so far.
    let stallCount: Int
    /// The time from the request for playback to the first frame; nil if it is not known.
    let startDelay: Duration?

    init(
        now: Timestamp,
        model: PlaybackModel? = nil,
        pendingSeek: Int64? = nil,
        catchUpRate: Double = 1,
        stallCount: Int = 0,
        startDelay: Duration? = nil
    ) {
        self.now = now
        self.model = model
        self.pendingSeek = pendingSeek
        self.catchUpRate = catchUpRate
        self.stallCount = stallCount
        self.startDelay = startDelay
    }

    var instant: MonotonicInstant { now.instant }

    /// The position of the playhead, or the start position.
    var position: Int64 { model?.position(at: instant) ?? pendingSeek ?? 0 }

    /// Whether the viewer has chosen the normal rate.
    var isAtNormalRate: Bool { model.map { abs($0.rate - catchUpRate) < 1e-6 } ?? true }

    /// Whether playback continues until an instant with the media that is buffered.
    func isBuffered(until instant: MonotonicInstant) -> Bool {
        guard let model, model.hasStarted, !model.isWaiting else { return false }
        let end = position.saturatingAdd(max(0, model.level(at: self.instant)))
        return model.instant(ofPlaying: end).map { $0 > instant } ?? true
    }

    /// The state of the playhead, for adaptation rules.
    var playhead: AdaptationContext.Playhead {
        guard let model else { return .starting }
        if model.isSeeking { return .seeking }
        if !model.hasStarted { return .starting }
        if model.isWaiting { return .stalled }
        return model.isPaused ? .paused : .playing
    }
}
