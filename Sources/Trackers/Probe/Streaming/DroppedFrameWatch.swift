internal import Instrument

/// Compares the pictures that were dropped with those that were decoded, from look to look.
///
/// A probe decodes nothing: only pictures that arrive too late count as dropped.
struct DroppedFrameWatch: Sendable {
    private let policy: DroppedFramePolicy
    /// The instant of the next look.
    private(set) var next: MonotonicInstant
    private var dropped: Int64 = 0
    private var decodedEnd: Int64 = 0
    private var rung: Int?
    private var width = 0
    private var decision: MonotonicInstant?

    init(_ policy: DroppedFramePolicy, from now: MonotonicInstant) {
        self.policy = policy
        next = now.advanced(by: policy.interval)
    }

    /// Restarts the count where a rung is chosen, also the same one again, or pictures of another size are shown.
    ///
    /// - Parameters:
    ///   - rung: the rung that is loaded.
    ///   - width: of the pictures that are shown, in pixels.
    ///   - decision: the instant of the rule's last decision; nil before the first one.
    mutating func follow(
        rung: Int?,
        width: Int,
        decision: MonotonicInstant?,
        _ model: PlaybackModel?,
        _ now: MonotonicInstant
    ) {
        // lib/abr/simple_abr_manager.js:537, `updateFramesInfo_`.
        guard rung != self.rung || width != self.width || decision != self.decision else { return }
        (self.rung, self.width, self.decision) = (rung, width, decision)
        _ = count(model, now)
    }

    /// The pictures that were dropped and decoded since the last count; nil before the first picture.
    private mutating func count(_ model: PlaybackModel?, _ now: MonotonicInstant) -> (dropped: Int64, decoded: Int64)? {
        guard let model, let end = model.decodedEnd(at: now) else { return nil }
        defer { (dropped, decodedEnd) = (model.latePictures.dropped, end) }
        return (model.latePictures.dropped - dropped, end - decodedEnd)
    }

    /// Takes a look, if one is due.
    ///
    /// - Returns: whether too many pictures were dropped since the look before.
    mutating func looks(at model: PlaybackModel?, _ now: MonotonicInstant) -> Bool {
        guard next <= now else { return false }
        next = next.next(after: now, every: policy.interval)
        // lib/abr/simple_abr_manager.js, `checkDroppedFrames_`: a pause changes nothing, a faster rate forgets.
        guard let model, !model.isPaused, let (late, decoded) = count(model, now) else { return false }
        return model.rate <= 1 && decoded > 0 && Double(late) >= policy.limit * Double(decoded) && late > 0
    }
}
