internal import Instrument

/// The downloads that count for the throughput; each playback works with a copy.
protocol ThroughputSampling: Hashable, Sendable {
    /// The number of samples that rules see.
    var capacity: Int { get }
    /// Whether a sample takes the downloads into account that run beside the one that it ends with.
    var comparesDownloads: Bool { get }
    /// The time after which the arrival of a sample's last bytes is seen, if running downloads have samples.
    var sampleDelay: Duration { get }
    /// The earliest end of the next sample of the running video; nil if no running download has samples.
    var nextSample: MonotonicInstant? { get }
    /// Whether the last bytes of a download bring a decision before the player uses the segment, so that a decision for
    /// another rung drops it.
    var decidesWithLastBytes: Bool { get }
    /// Returns the samples that a download has given since the last call.
    mutating func samples(of download: SampledDownload) -> [ThroughputSample]
    /// Forgets downloads that were cancelled.
    mutating func forgetDownloads()
}

extension ThroughputSampling {
    var capacity: Int { ThroughputHistory.capacity }
    var comparesDownloads: Bool { false }
    var sampleDelay: Duration { .zero }
    var nextSample: MonotonicInstant? { nil }
    var decidesWithLastBytes: Bool { false }
    mutating func forgetDownloads() {}
}

/// A download of a segment, as a ``ThroughputSampling`` sees it.
struct SampledDownload: Sendable {
    /// Whether a download is in progress or how it ended.
    enum State: Hashable, Sendable {
        case running, complete
        /// Aborted at an instant.
        case abandoned(MonotonicInstant)
    }

    var role: StreamRole
    var transfer: LinkMeter.Transfer
    var state: State
    /// The downloads that run beside it, for a sampling that compares them.
    var others: [LinkMeter.Transfer]
    /// Whether the server was producing the segment while it was transferred.
    var isProduced: Bool
    /// The time that the player works on the segment, if its sample includes that.
    var processing: Duration
}

/// A sample for each download.
struct DownloadSampling: ThroughputSampling {
    /// Whether audio that is fetched apart from video counts.
    var includesAudio = true
    /// Whether the part counts that arrived of an abandoned download.
    var includesAbandoned = false

    func samples(of download: SampledDownload) -> [ThroughputSample] {
        guard download.role == .main || includesAudio else { return [] }
        let end: MonotonicInstant?
        switch download.state {
        case .running: return []
        case .complete: end = download.transfer.arrivals.last
        case .abandoned(let instant): end = includesAbandoned ? instant : nil
        }
        let (arrivals, begun) = (download.transfer.arrivals, download.transfer.begun)
        guard let first = arrivals.first, let end else { return [] }
        let time = download.isProduced ? arrivals.transferTimeWithoutPauses : first.duration(to: end)
        return [
            ThroughputSample(
                bytes: Int64(arrivals.count),
                transferTime: download.processing + time,
                timeToFirstByte: begun.duration(to: first),
                end: end
            )
        ]
    }
}

/// The parts of a transfer: each ends with the first bytes that come after both limits, or with the download.
package struct TransferParts: Hashable, Sendable {
    /// The shortest time of a part.
    package var time: Duration
    /// The fewest bytes of a part.
    package var bytes: Int

    /// Creates limits.
    package init(time: Duration, bytes: Int) { (self.time, self.bytes) = (time, bytes) }
}
