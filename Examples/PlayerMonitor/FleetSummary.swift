internal import Instrument
internal import InstrumentProbe

/// What each of many playbacks was like, from the samples that every backend gets.
final class FleetSummary: Backend {
    /// One playback, or several of one tracker added up.
    struct Playback: Hashable {
        var startTime: Int?
        var playTime = 0
        var stalls = 0
        var stallTime = 0
        /// What was shown last.
        var quality = "-"
    }

    let name: BackendName = "summary"
    /// The summary is of this run alone.
    let isEphemeral = true
    let policy = DeliveryPolicy(maxCount: 1000, maxAge: .seconds(1))
    private let playbacks = Lock([TrackerID: Playback]())

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        playbacks.withLock { playbacks in
            for record in batch.records {
                switch record.sample {
                case .event(let event): Self.count(event, in: &playbacks[event.tracker, default: Playback()])
                case .metric(let metric): Self.count(metric, in: &playbacks[metric.tracker, default: Playback()])
                }
            }
        }
        return .acknowledged
    }

    /// A row for each source, in the order given.
    func table(_ trackers: [TrackerID], _ sources: [MediaSource], _ outcomes: [ProbeOutcome?]) -> FleetTable {
        let known = playbacks.withLock { $0 }
        var rows: [FleetTable.Row] = []
        for ((tracker, source), outcome) in zip(zip(trackers, sources), outcomes) {
            rows.append(FleetTable.Row(source: source, playback: known[tracker] ?? Playback(), outcome: outcome))
        }
        return FleetTable(rows)
    }

    private static func count(_ event: Event, in playback: inout Playback) {
        guard event.action == .start || event.action == .qualityChangeUp || event.action == .qualityChangeDown else {
            return
        }
        if let width = event[.resolutionWidth], let height = event[.resolutionHeight] {
            playback.quality = "\(width)x\(height)"
        } else if let bitrate = event[.bitrate] {
            playback.quality = "\(bitrate / 1000) kbit/s"
        }
    }

    private static func count(_ metric: Metric, in playback: inout Playback) {
        guard case .int(let value) = metric.value else { return }
        switch metric.name {
        case .startTime: playback.startTime = value
        case .playTime: playback.playTime += value
        case .numRebuffers: playback.stalls += value
        case .rebufferTime: playback.stallTime += value
        default: break
        }
    }
}
