internal import Instrument

/// A presentation that begins later, as the player says it: no outage, whose pictures nobody expects yet.
struct Announcement: Hashable, Sendable {
    /// When the first segment is available.
    let begin: MonotonicInstant
    /// When the first session saw it.
    let since: WallTime
    /// What the player says, with the time.
    let message: String

    /// How long a session waits for the beginning before another one looks whether it has changed.
    static let longestWait = Duration.seconds(600)

    /// A stream that has shown pictures within this time is expected to show some: that it begins later is an outage,
    /// such as that of an encoder with a wrong clock.
    static let surprise = Duration.seconds(3_600)

    /// The shortest wait, so that clocks that differ make no loop of sessions: the player announces no shorter one.
    private static let shortestWait = Duration.seconds(10)

    /// Reads the warning of a player; nil for other events.
    init?(_ event: Event) {
        guard event.action == Action("StreamWarning"), event[AttributeKey<String>("warningCode")] == "notBegun",
            let wait = event[AttributeKey<Duration>("presentationWait")]
        else { return nil }
        begin = event.time.instant.advanced(by: max(wait, Self.shortestWait))
        since = event.time.wallTime
        message = String((event[AttributeKey<String>("warningDescription")] ?? "").prefix(300))
    }

    /// When another session is to look at the presentation.
    func nextLook(after instant: MonotonicInstant) -> MonotonicInstant {
        min(begin, instant.advanced(by: Self.longestWait))
    }

    /// The cause for which there is no picture yet.
    var cause: StreamCause {
        let text = message.prefix(1).uppercased() + message.dropFirst() + "."
        return StreamCause(.schedule, "Not begun", text: text, since: since)
    }
}
