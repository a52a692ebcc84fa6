internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Computes a throughput estimate from the latest downloads.
package struct ThroughputEstimator: Hashable, Sendable {
    /// The weighting of samples.
    package enum Method: Hashable, Sendable {
        /// The smaller of two exponentially weighted averages, weighted by download time, with these half-lives.
        case movingAverages(fastHalfLife: Duration, slowHalfLife: Duration)
        /// This percentile (0…1) of the latest samples, weighted by the whole square root of their bytes, up to a total
        /// weight.
        case percentile(Double, maximumWeight: Double)
        /// The average of this number of samples.
        case mean(last: Int)
        /// The harmonic mean of this number of samples, on which upward outliers have less effect.
        case harmonicMean(last: Int)
    }

    /// The interval that is the time of a download.
    package enum Time: Hashable, Sendable {
        /// The time from the request to the last byte.
        case total
        /// The time from the first byte to the last.
        case transfer
        /// The time from the request to the last byte, without the usual time to the first byte, as far as it was
        /// needed.
        case beyondUsualLatency
    }

    /// The weighting of samples.
    package var method: Method
    /// The interval that is the time of a download.
    package var time: Time
    /// The smallest sample that counts, bytes.
    package var minimumSampleBytes: Int64
    /// The shortest download time that counts; shorter times are raised to it.
    package var minimumSampleTime: Duration
    /// The highest rate that a sample may have, bytes/s; nil for no limit. It shortens `minimumSampleTime` for small
    /// samples.
    package var maximumSampleRate: Double?
    /// The number of received bytes below which, also before `trustedTime`, there is no estimate.
    package var trustedBytes: Int64
    /// The download time below which, also before `trustedBytes`, there is no estimate.
    package var trustedTime: Duration
    /// Multiplies the weight of each sample in moving averages.
    package var weightFactor: Double

    /// Creates an estimator.
    package init(
        _ method: Method,
        time: Time = .total,
        minimumSampleBytes: Int64 = 0,
        minimumSampleTime: Duration = .zero,
        maximumSampleRate: Double? = nil,
        trustedBytes: Int64 = 0,
        trustedTime: Duration = .seconds(1_000_000_000),
        weightFactor: Double = 1
    ) {
        self.method = method
        self.time = time
        self.minimumSampleBytes = minimumSampleBytes
        self.minimumSampleTime = minimumSampleTime
        self.maximumSampleRate = maximumSampleRate
        self.trustedBytes = trustedBytes
        self.trustedTime = trustedTime
        self.weightFactor = weightFactor
    }

    /// hls.js 1.7: half-lives 3 and 9 s (`abrEwmaFastVoD`, `abrEwmaSlowVoD`; src/config.ts), the time without the
    /// expected time to the first byte (src/controller/abr-controller.ts, `onFragBuffered`), at most 100 MB/s
    /// (src/utils/ewma-bandwidth-estimator.ts, `sample`).
    package static let hlsJS = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(9)),
        time: .beyondUsualLatency,
        minimumSampleTime: .milliseconds(50),
        maximumSampleRate: 1e8
    )

    /// Shaka Player 5.2: half-lives 2 and 5 s, no samples under 16 kB, no estimate before 128 kB.
    /// lib/util/player_configuration.js (`abr.advanced`), lib/abr/ewma_bandwidth_estimator.js.
    package static let shaka = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(2), slowHalfLife: .seconds(5)),
        minimumSampleBytes: 16_000,
        trustedBytes: 128_000
    )

    /// dash.js 5: half-lives 3 and 8 s, weights of 0.0015 a millisecond. src/core/Settings.js (`abr.throughput.ewma`).
    /// `useDeadTimeLatency`: the time to the first byte does not count (src/streaming/models/ThroughputModel.js).
    package static let dashJS = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(8)),
        time: .transfer,
        weightFactor: 1.5
    )

    /// Media3's `DefaultBandwidthMeter`: the median by square roots of bytes, total weight 2000
    /// (`DEFAULT_SLIDING_WINDOW_MAX_WEIGHT`), after 2000 ms or 512 KiB (`ELAPSED_MILLIS_FOR_ESTIMATE`,
    /// `BYTES_TRANSFERRED_FOR_ESTIMATE`).
    package static let exoPlayer = ThroughputEstimator(
        .percentile(0.5, maximumWeight: 2000),
        time: .transfer,
        trustedBytes: 524_288,
        trustedTime: .seconds(2)
    )

    /// Sabre's default: half-lives 3 and 8 s by transfer time. Sabre (Spiteri, MMSys 2018), `Ewma.default_half_life`.
    package static let sabre = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(8)),
        time: .transfer
    )
}

extension ThroughputEstimator {
    /// Returns the throughput for decisions, bit/s, finite and above zero; nil while there are too few samples.
    package func bitrate(of history: ThroughputHistory) -> Double? {
        var samples: [(bitrate: Double, seconds: Double, bytes: Double)] = []
        var totalBytes = 0.0
        var totalTime = 0.0
        var latency = UsualLatency()
        for sample in history.samples where sample.bytes >= max(minimumSampleBytes, 1) {
            let measured: Double
            switch time {
            case .total: measured = sample.totalTime.seconds
            case .transfer: measured = sample.transferTime.seconds
            case .beyondUsualLatency:
                latency.add(sample.timeToFirstByte.seconds)
                measured = sample.totalTime.seconds - min(sample.timeToFirstByte.seconds, latency.seconds)
            }
            let shortest = maximumSampleRate.map { Double(sample.bytes) / $0 } ?? .infinity
            // A response from a cache that took no time counts as a microsecond.
            let seconds = max(measured, min(minimumSampleTime.seconds, shortest), 1e-6)
            samples.append((8 * Double(sample.bytes) / seconds, seconds, Double(sample.bytes)))
            totalBytes += Double(sample.bytes)
            totalTime += seconds
        }
        guard !samples.isEmpty, totalBytes >= Double(trustedBytes) || totalTime >= trustedTime.seconds else {
            return nil
        }
        let estimate =
            switch method {
            case .movingAverages(let fast, let slow):
                min(
                    average(samples.map { ($0.bitrate, $0.seconds) }, fast),
                    average(samples.map { ($0.bitrate, $0.seconds) }, slow)
                )
            case .percentile(let rank, let maximum):
                Self.percentile(samples.map { ($0.bitrate, $0.bytes.squareRoot().rounded(.down)) }, rank, maximum)
            case .mean(let count): Self.mean(samples.suffix(max(1, count)).map(\.bitrate))
            case .harmonicMean(let count): 1 / Self.mean(samples.suffix(max(1, count)).map { 1 / $0.bitrate })
            }
        return estimate.isFinite && estimate > 0 ? estimate : nil
    }

    /// Returns the time to the first byte for decisions, over the latest samples, in seconds; zero without samples.
    package func latency(of history: ThroughputHistory) -> Double {
        let latest = history.samples.suffix(4)
        return latest.isEmpty ? 0 : Self.mean(latest.map(\.timeToFirstByte.seconds))
    }

    /// Returns the usual time to the first byte, in seconds; 0.1 s without samples. hls.js,
    /// src/utils/ewma-bandwidth-estimator.ts, `getEstimateTTFB`.
    package func usualLatency(of history: ThroughputHistory) -> Double {
        var latency = UsualLatency()
        for sample in history.samples { latency.add(sample.timeToFirstByte.seconds) }
        return latency.seconds
    }

    /// An average of times to the first byte in which long times weigh less. hls.js, `sampleTTFB`: half-life 9, weights
    /// √2·e^(−t²/2), times of at least 5 ms.
    private struct UsualLatency {
        private var (estimate, total) = (0.0, 0.0)

        /// The usual 100 ms as long as the weights do not add up to 0.001: a first byte after more than 3.8 s alone
        /// does not make such a time usual.
        var seconds: Double { total >= 0.001 ? estimate / (1 - pow(0.5, total / 9)) : 0.1 }

        mutating func add(_ seconds: Double) {
            let weight = 2.0.squareRoot() * exp(-seconds * seconds / 2)
            let alpha = pow(0.5, weight / 9)
            estimate = alpha * estimate + (1 - alpha) * max(seconds, 0.005)
            total += weight
        }
    }

    /// An exponentially weighted average that starts at zero, with the start's bias corrected: value ÷ (1 − ½^(weight
    /// ÷ half-life)).
    private func average(_ samples: [(value: Double, weight: Double)], _ halfLife: Duration) -> Double {
        let halfLife = max(halfLife.seconds, 1e-9)
        var estimate = 0.0
        var total = 0.0
        for sample in samples {
            let weight = sample.weight * weightFactor
            let alpha = pow(0.5, weight / halfLife)
            estimate = alpha * estimate + (1 - alpha) * sample.value
            total += weight
        }
        return estimate / (1 - pow(0.5, total / halfLife))
    }

    /// Returns the value at which the weights of the smaller values reach `rank` of all weights. The oldest weights
    /// beyond `maximum` do not count, the last of them in part. Media3, `SlidingPercentile`.
    private static func percentile(_ samples: [(value: Double, weight: Double)], _ rank: Double, _ maximum: Double)
        -> Double
    {
        var room = maximum
        var kept: [(value: Double, weight: Double)] = []
        for sample in samples.reversed() where room > 0 {
            kept.append((sample.value, min(sample.weight, room)))
            room -= sample.weight
        }
        let wanted = rank * kept.reduce(0) { $0 + $1.weight }
        var sum = 0.0
        for sample in kept.sorted(by: { $0.value < $1.value }) {
            sum += sample.weight
            if sum >= wanted { return sample.value }
        }
        return kept.map(\.value).max() ?? 0
    }

    private static func mean(_ values: some Collection<Double>) -> Double {
        values.reduce(0, +) / Double(max(1, values.count))
    }
}
