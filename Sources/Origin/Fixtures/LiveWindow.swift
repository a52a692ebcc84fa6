internal import Instrument

/// Which segments of an endless or growing stream exist at a moment: a pure function of the clock.
struct LiveWindow: Hashable, Sendable {
    /// Those that the playlist lists.
    var listed: Range<Int>
    /// Those that can be fetched: the listed ones, and as many before them.
    var available: Range<Int>
    /// The calendar time at which segment 0 starts.
    var start: WallTime
    /// Whether nothing more comes.
    var isOver: Bool

    /// How long a live stream has been on when the origin starts, in milliseconds: a whole number of all segments.
    static var headStart: Int64 { 60_000 }
    /// How many segments an event has when a session comes to it.
    static var eventStart: Int { 3 }

    /// A live stream, which is the same for all: it began a minute before the origin was started, and has no end.
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

    /// An event, which begins with each session: it has three segments at the session's first request, and grows by one
    /// a segment's length until all `count` are there.
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

    /// All that there is.
    static func whole(count: Int) -> LiveWindow {
        LiveWindow(listed: 0..<count, available: 0..<count, start: WallTime(milliseconds: 0), isOver: true)
    }
}
