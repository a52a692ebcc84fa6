internal import Instrument

/// Joins moments with a property (black, frozen, silent) to intervals, and reports those that are long enough.
///
/// An interval ends with the last moment that has the property: what lies between that moment and the next one was not
/// seen, and with one keyframe every few seconds it would be a false alarm. A jump of the time ends an interval, too.
struct IntervalTracker: Hashable, Sendable {
    /// The shortest interval that is reported, in nanoseconds.
    let minimum: Int64
    /// A step of the time beyond this is a jump, in nanoseconds.
    private static let longestStep: Int64 = 15_000_000_000
    private var start: Int64?
    /// The end of the last moment with the property.
    private var confirmed: Int64?
    private var last: Int64?

    init(minimum: Duration) { self.minimum = max(0, minimum.nanoseconds) }

    /// Takes a moment, which lasts until `end` (nil: an instant); returns the interval that the moment ends.
    mutating func take(_ time: Int64, until end: Int64? = nil, _ hasProperty: Bool) -> MediaInterval? {
        var ended: MediaInterval?
        if let last, time < last || time.saturatingSubtract(last) > Self.longestStep { ended = finish() }
        last = time
        guard hasProperty else { return finish() ?? ended }
        start = start ?? time
        confirmed = max(confirmed ?? time, end ?? time)
        return ended
    }

    /// The interval that has not ended and is already long enough; nil without one.
    var current: MediaInterval? {
        guard let start, let confirmed, confirmed > start, confirmed.saturatingSubtract(start) >= minimum else {
            return nil
        }
        return MediaInterval(start: start, end: confirmed)
    }

    /// Ends the media; returns the interval that lasted until then.
    mutating func finish() -> MediaInterval? {
        defer { (start, confirmed, last) = (nil, nil, nil) }
        return current
    }
}
