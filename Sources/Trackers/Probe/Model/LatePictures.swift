internal import Instrument

/// What a playback knows of pictures that arrived too late; positions and times are nanoseconds of media.
struct LatePictures: Hashable, Sendable {
    /// The pictures that a browser's decoder works ahead (media/base/limits.h, `kMaxVideoFrames`).
    private static let decoderLead: Int64 = 4

    /// media/filters/video_renderer_algorithm.cc, `max_acceptable_drift_`.
    private static let acceptableDrift: Int64 = 15_000_000

    /// The duration of a picture; 0 where the frame rate is not known.
    var pictureDuration: Int64 = 0
    /// Where the pictures ran out, while sound plays on alone: pictures that arrive behind the playhead change nothing.
    private(set) var ranOutAt: Int64?
    /// The pictures that were dropped because their time had passed.
    private(set) var dropped: Int64 = 0

    /// Pictures arrive behind those that are known.
    ///
    /// - Parameter isMoving: whether sound plays on alone meanwhile.
    mutating func arrive(to end: Int64, after known: Int64, playhead: Int64, isMoving: Bool) {
        let end = max(known, end)
        if known <= playhead, pictureDuration > 0 {
            // media/filters/video_renderer_algorithm.cc, `RemoveExpiredFrames`: those that ended more than 15 ms ago;
            // media/renderers/video_renderer_impl.cc: and in a stall the picture that stood.
            let late = max(0, playhead - known - Self.acceptableDrift) / pictureDuration + (isMoving ? 0 : 1)
            dropped = dropped.saturatingAdd(min(late * pictureDuration, end - known))
        }
        ranOutAt = end > playhead ? nil : ranOutAt ?? known
    }

    /// The playhead moves elsewhere, or the buffer is emptied.
    mutating func seek() { ranOutAt = nil }

    /// The end of the pictures that are decoded.
    func decodedEnd(playhead: Int64, known: Int64) -> Int64 {
        min(known, playhead.saturatingAdd(Self.decoderLead * pictureDuration))
    }
}
