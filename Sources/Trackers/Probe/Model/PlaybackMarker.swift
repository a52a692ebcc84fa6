/// A position of the media that somebody outside the model waits for.
struct PlaybackMarker: Hashable, Sendable {
    /// The position of a marker at the end of the media, wherever the end is.
    static let endPosition = Int64.max

    /// Identifies the marker to its owner.
    var id: Int
    /// Nanoseconds of media time; ``endPosition`` for the end.
    var position: Int64
    /// Whether the playhead stops at the marker until it is released.
    var holds: Bool

    init(id: Int, at position: Int64, holds: Bool = false) {
        (self.id, self.position, self.holds) = (id, position, holds)
    }
}
