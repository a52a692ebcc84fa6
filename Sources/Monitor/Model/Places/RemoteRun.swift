internal import Instrument

/// A session that a monitor elsewhere plays.
struct RemoteRun: Sendable {
    /// Without a newer sample, a session is known to be in its state for this long: players send a ping every 30 s.
    static let reach = Duration.seconds(60)

    /// The sender and its playback.
    let session: String
    /// The sender's calendar at the first sample.
    let begin: WallTime
    private var clock: (sender: MonotonicInstant, here: MonotonicInstant)
    /// The number of the latest sample.
    private var last: (log: UInt64, sequence: UInt64)
    /// The time of the latest sample on this machine's clock.
    private(set) var latest: MonotonicInstant
    /// When the latest sample arrived.
    private(set) var arrival: MonotonicInstant

    /// - Parameters:
    ///   - session: the sender and its playback.
    ///   - record: the first sample.
    ///   - now: when the sample arrived.
    init(_ session: String, _ record: SampleRecord, at now: Timestamp) {
        let time = record.sample.time
        let age = max(0, now.wallTime.milliseconds.saturatingSubtract(time.wallTime.milliseconds))
        latest = now.instant.advanced(by: .milliseconds(-age))
        (self.session, begin, arrival) = (session, time.wallTime, now.instant)
        clock = (time.instant, latest)
        last = (record.id.log, record.sequence)
    }

    /// Takes a further sample; returns its time on this machine's clock, or nil for a late sample.
    ///
    /// The sender's monotonic clock measures, so that a calendar that is wrong or set changes no duration. A sample is
    /// never in the future.
    mutating func take(_ record: SampleRecord, at now: Timestamp) -> Timestamp? {
        if record.id.log == last.log, record.sequence <= last.sequence { return nil }
        last = (record.id.log, record.sequence)
        let elapsed = record.sample.time.instant.nanoseconds.saturatingSubtract(clock.sender.nanoseconds)
        var instant = MonotonicInstant(nanoseconds: clock.here.nanoseconds.saturatingAdd(elapsed))
        if instant > now.instant {
            instant = now.instant
            clock = (record.sample.time.instant, instant)
        }
        latest = max(latest, instant)
        arrival = now.instant
        return now.before(latest.duration(to: now.instant))
    }

    /// Whether another session is one of another tracker of the same process: the identifier of a sender is that of its
    /// instrument, and the number of its tracker.
    func isBeside(_ other: String) -> Bool {
        let sender = { (session: String) in session.prefix { $0 != "/" }.split(separator: "-") }
        let (own, others) = (sender(session), sender(other))
        return own != others && own.dropLast() == others.dropLast()
    }

    /// The time of the first sample on this machine's clock.
    func start(at now: Timestamp) -> Timestamp { now.before(latest.duration(to: now.instant)) }
}
