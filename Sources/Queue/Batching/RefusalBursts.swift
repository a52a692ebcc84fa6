/// Decides which refusals of samples are reported: one of each burst. The ledgers count all of them.
///
/// A burst has one cause, and ends a second after its last refusal. A burst that lasts is reported once a minute.
struct RefusalBursts {
    private struct Burst {
        var latest: MonotonicInstant
        var reported: MonotonicInstant
    }

    private var bursts: [QueueError.Code: Burst] = [:]

    static var pause: Duration { .seconds(1) }
    static var reminder: Duration { .seconds(60) }

    /// Notes a refusal. Returns whether it is reported.
    mutating func isNews(_ code: QueueError.Code, at now: MonotonicInstant) -> Bool {
        let known = bursts[code]
        let isNews = known.map { burst in
            now >= burst.latest.advanced(by: Self.pause) || now >= burst.reported.advanced(by: Self.reminder)
        }
        let reported = isNews == false ? known?.reported ?? now : now
        bursts[code] = Burst(latest: now, reported: reported)
        return isNews ?? true
    }
}
