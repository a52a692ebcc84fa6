internal import Instrument

/// The treatment of statements with a time in the future, which a provider must not send (xAPI 1.0.3, Data
/// 2.4.7.s3.b4).
///
/// They occur when the calendar was set back after the recording, or when a session was played faster than real
/// time. The time of a statement must not change between attempts, so the statement waits for its time, and so
/// do later ones, because the order is kept. The longest wait is a day: a statement further in the future was
/// recorded with a wrong calendar and becomes a dead letter, which can be retried.
enum FutureTimes {
    private static var patience: Int64 { 86_400_000 }

    /// Whether a time is too far in the future to wait for it.
    static func isBeyondWaiting(_ time: WallTime, now: WallTime) -> Bool {
        let (ahead, isFar) = time.milliseconds.subtractingReportingOverflow(now.milliseconds)
        return time > now && (isFar || ahead > patience)
    }

    /// The wait for the latest time of a batch; nil if no wait is needed.
    static func wait(until latest: WallTime?, now: WallTime) -> DeliveryOutcome? {
        guard let latest, latest > now else { return nil }
        let (ahead, isFar) = latest.milliseconds.subtractingReportingOverflow(now.milliseconds)
        let wait = Duration.milliseconds(isFar ? patience : min(ahead, patience))
        return .retry(after: wait, reason: "a statement has a time in the future; the batch waits for it")
    }
}
