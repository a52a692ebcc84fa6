internal import Instrument

/// What loading may know of the playback: a read-only copy for one decision.
struct PlaybackView: Sendable {
    let now: Timestamp
    /// The model; nil before the tracks are known.
    let model: PlaybackModel?
    /// The position at which playback is to start, before the model exists.
    let pendingSeek: Int64?
    /// The factor by which live catch-up changes the playback rate.
    let catchUpRate: Double
    /// The number of stalls so far.
    let stallCount: Int

    init(
        now: Timestamp,
        model: PlaybackModel? = nil,
        pendingSeek: Int64? = nil,
        catchUpRate: Double = 1,
        stallCount: Int = 0
    ) {
        self.now = now
        self.model = model
        self.pendingSeek = pendingSeek
        self.catchUpRate = catchUpRate
        self.stallCount = stallCount
    }

    var instant: MonotonicInstant { now.instant }

    /// Where the playhead is, or where it will start.
    var position: Int64 { model?.position(at: instant) ?? pendingSeek ?? 0 }

    /// The state of the playhead, for adaptation rules.
    var playhead: AdaptationContext.Playhead {
        guard let model else { return .starting }
        if model.isSeeking { return .seeking }
        if !model.hasStarted { return .starting }
        if model.isWaiting { return .stalled }
        return model.isPaused ? .paused : .playing
    }
}
