internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// How far a stream of a role is loaded, and what comes next.
struct StreamTrack: Sendable {
    /// Where to go on.
    enum Cursor: Hashable, Sendable {
        /// With the segment that plays at a time.
        case time(Int64)
        /// With the one behind a segment of `rendition`, which ended at `end`.
        case after(sequence: Int64, rendition: Rendition.ID, end: Int64)
    }

    /// A segment that was chosen, and what has come of it.
    struct Plan: Sendable {
        var rung: Int
        var rendition: Rendition.ID
        var segment: MediaSegment?
        var initialization: [UInt8] = []
        var key: [UInt8]?
        /// Where its media goes on the timeline, once its beginning is understood.
        var placement: StreamTimeline.Placement?
        /// How much of each track's points has been handed over.
        var fed: [PlaybackModel.Track: Int] = [:]
        /// So many bytes had come when it was last looked at before it was whole.
        var lookedAt = 0
    }

    var cursor: Cursor
    var plan: Plan?
    /// Until where media was handed over, or will be.
    var loadedEnd: Int64
    var isAtEnd = false
    /// There is more to do at once, and others come first.
    var takesBreak = false
    /// The rule wants no more before the buffer is down to this.
    var waitUntilBuffered: Int64?
    /// The rung of the segment before.
    var rung: Int?
    /// The rendition of the segment before.
    var rendition: Rendition.ID?
    /// What is in its segments; empty before the first.
    var kinds: Set<PlaybackModel.Track> = []
    var segmentCount = 0
    /// When there was last something to do and nothing to do it with, for the rule's sake.
    var idleSince: MonotonicInstant?

    init(at position: Int64) {
        cursor = .time(position)
        loadedEnd = position
    }

    /// Goes on at another position.
    mutating func move(to position: Int64) {
        cursor = .time(position)
        loadedEnd = position
        plan = nil
        isAtEnd = false
        waitUntilBuffered = nil
    }
}
