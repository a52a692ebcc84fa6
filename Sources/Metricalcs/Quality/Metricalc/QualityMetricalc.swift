public import Instrument

/// Computes the metrics of ``Dialect/instrument`` live, in place of a `CoreMetricalc`: the eight core metrics and
/// `qualityMetrics`.
///
/// Each metric is emitted as soon as it is known: what an event completes (a start, a stall, a seek, a failure, a
/// request) with that event; times, ratios and averages of the session with each `Ping` and with the end. Metrics of
/// sums carry what was added since the last value, so that the values of a session add up to the session's; of ratios,
/// averages and latencies the latest counts.
///
/// A metricalc is a pure function of events: a replay of the recorded events gives the same metrics, bit for bit. Rules
/// of privacy change attributes after the metricalc: a replay lacks what a rule removed. The attributes that matter are
/// the identifiers (`senderId`, `playbackId`, `contentSenderId`), the blocks and times of the hub, `isFatal`,
/// `errorCode`, the picture (`bitrate`, `resolutionWidth`, `resolutionHeight`, `position`), `liveLatency`, the sums of
/// requests of the probe, and the fields of this module.
///
/// A session that was left without an event of its end (`ExitBeforeStart`) is reported with the first event of the next
/// session of the same tracker, or when the tracker is removed, as of the session's latest event; a shutdown removes
/// all trackers. A recording does not tell when a tracker was removed: a replay reports the sessions that are open at
/// the end of the recording.
public struct QualityMetricalc: Metricalc {
    private var reader = SessionReader()

    /// Creates a metricalc that has seen nothing.
    public init() {}

    /// Appends the metrics that follow from `event`.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        // Of a captured event, the compiler makes a copy at each call that passes the closure on.
        let moment = EventMoment(event)
        reader.observe(event) { model, visit in model.report(moment, visit, into: &metrics) }
    }

    /// Drops everything about a removed tracker.
    public mutating func forget(_ tracker: TrackerID) { reader.forget(tracker) }

    /// Appends what is left to report of the tracker's open session, and drops everything about the tracker.
    public mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        reader.forget(tracker) { model, visit in
            if visit != .release { model.reportLast(of: tracker, into: &metrics) }
        }
    }
}
