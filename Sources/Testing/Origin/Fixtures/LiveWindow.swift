internal import Instrument

/// The segments of an endless or growing stream at an instant: a pure function of the clock.
struct LiveWindow: Hashable, Sendable {
    /// The segments in the playlist.
    var listed: Range<Int>
    /// The available segments: those in the playlist, and the same number before them.
    var available: Range<Int>
    /// The calendar time at which segment 0 starts.
    var start: WallTime
    /// Whether the stream is complete.
    var isOver: Bool

    /// The age of a live stream when the origin starts, in milliseconds: a whole number of all segments.
    static var headStart: Int64 { 60_000 }
    /// The number of segments of an event at a session's first request.
    static var eventStart: Int { 3 }

    /// A live stream, the same for all sessions: it began a minute before the origin started, and has no end.
    static func live(at moment: Moment, segment: Int64, window: Int) -> LiveWindow {
        let start = moment.originStart.milliseconds &- headStart
        let end = Int(clamping: max(0, moment.now.milliseconds &- start) / segment)
        let first = max(0, end - window)
        return LiveWindow(
            listed: first..<end,
            available: max(0, first - window)..<end,
            start: WallTime(milliseconds: start),
            isOver: false
        )
    }

    /// An event, which begins with each session: it has three segments at the session's first request, and grows by
    /// one segment per segment duration, up to `count`.
    static func event(at moment: Moment, segment: Int64, count: Int) -> LiveWindow {
        let start = moment.sessionStart.milliseconds &- segment &* Int64(eventStart)
        let end = min(count, Int(clamping: max(0, moment.now.milliseconds &- start) / segment))
        return LiveWindow(
            listed: 0..<end,
            available: 0..<end,
            start: WallTime(milliseconds: start),
            isOver: end == count
        )
    }

    /// The whole media.
    static func whole(count: Int) -> LiveWindow {
        LiveWindow(listed: 0..<count, available: 0..<count, start: WallTime(milliseconds: 0), isOver: true)
    }
}
