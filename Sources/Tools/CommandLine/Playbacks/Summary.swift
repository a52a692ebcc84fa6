package import Instrument

/// A backend that adds up the viewing experience of each playback, from the samples that every backend receives.
package final class Summary: Backend {
    package let name: BackendName = "summary"
    /// The summary covers this run alone.
    package let isEphemeral = true
    package let policy = DeliveryPolicy(maxCount: 1000, maxAge: .seconds(1))
    private let records = Lock([TrackerID: PlaybackRecord]())

    private let observe: @Sendable (Event) -> Void

    /// - Parameter observe: gets each event.
    package init(observing observe: @escaping @Sendable (Event) -> Void = { _ in }) { self.observe = observe }

    package func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records {
            if case .event(let event) = record.sample { observe(event) }
        }
        records.withLock { records in
            for record in batch.records {
                let sample = record.sample
                records[sample.tracker, default: PlaybackRecord()].count(sample)
            }
        }
        return .acknowledged
    }

    /// The record of a tracker's playbacks; an empty one if the tracker has no samples.
    package func record(of tracker: TrackerID) -> PlaybackRecord {
        records.withLock { $0[tracker] } ?? PlaybackRecord()
    }
}

extension Sample {
    fileprivate var tracker: TrackerID {
        switch self {
        case .event(let event): event.tracker
        case .metric(let metric): metric.tracker
        }
    }
}
