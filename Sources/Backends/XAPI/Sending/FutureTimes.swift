internal import Instrument

/// What becomes of statements whose time has not come yet: a provider must not send them (xAPI 1.0.3, Data 2.4.7.s3.b4).
///
/// They have one when the calendar was set back after they were recorded, or when a session was played faster than time.
/// Their time is part of what may not change between two attempts, so they wait for it, and what was recorded after them
/// waits, too, since order is kept. Nobody waits longer than a day: what lies farther ahead was recorded with a calendar
/// that was wrong, and becomes a dead letter, from where it can be had.
enum FutureTimes {
    private static var patience: Int64 { 86_400_000 }

    /// Whether waiting for that time is no use.
    static func isBeyondWaiting(_ time: WallTime, now: WallTime) -> Bool {
        let (ahead, isFar) = time.milliseconds.subtractingReportingOverflow(now.milliseconds)
        return time > now && (isFar || ahead > patience)
    }

    /// The wait for the latest of a batch's times; nil if none is needed.
    static func wait(until latest: WallTime?, now: WallTime) -> DeliveryOutcome? {
        guard let latest, latest > now else { return nil }
        let (ahead, isFar) = latest.milliseconds.subtractingReportingOverflow(now.milliseconds)
        let wait = Duration.milliseconds(isFar ? patience : min(ahead, patience))
        return .retry(after: wait, reason: "statements are not sent before their time, which lies in the future")
    }
}
