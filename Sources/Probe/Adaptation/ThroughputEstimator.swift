internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Makes one figure of what the latest downloads took.
public struct ThroughputEstimator: Hashable, Sendable {
    /// How samples are weighed.
    public enum Method: Hashable, Sendable {
        /// The smaller of two exponentially weighted averages, weighed by download time, with these half-lives.
        case movingAverages(fastHalfLife: Duration, slowHalfLife: Duration)
        /// This percentile (0…1) of the latest samples, weighed by the square root of their bytes, up to a total
        /// weight.
        case percentile(Double, maximumWeight: Double)
        /// The average of this number of samples.
        case mean(last: Int)
        /// The harmonic mean of this number of samples, on which upward outliers have less effect.
        case harmonicMean(last: Int)
    }

    /// What counts as the time of a download.
    public enum Time: Hashable, Sendable {
        /// From the request to the last byte.
        case total
        /// From the first byte to the last.
        case transfer
    }

    /// How samples are weighed.
    public var method: Method
    /// What counts as the time of a download.
    public var time: Time
    /// Samples of fewer bytes are left out.
    public var minimumSampleBytes: Int64
    /// Downloads count as at least so long.
    public var minimumSampleTime: Duration
    /// As long as less than this arrived, and less than `trustedTime` was spent, there is no estimate.
    public var trustedBytes: Int64
    /// As long as less than this was spent, and less than `trustedBytes` arrived, there is no estimate.
    public var trustedTime: Duration
    /// Multiplies the weight of each sample in moving averages.
    public var weightFactor: Double

    /// Creates an estimator.
    public init(
        _ method: Method,
        time: Time = .total,
        minimumSampleBytes: Int64 = 0,
        minimumSampleTime: Duration = .zero,
        trustedBytes: Int64 = 0,
        trustedTime: Duration = .seconds(1_000_000_000),
        weightFactor: Double = 1
    ) {
        self.method = method
        self.time = time
        self.minimumSampleBytes = minimumSampleBytes
        self.minimumSampleTime = minimumSampleTime
        self.trustedBytes = trustedBytes
        self.trustedTime = trustedTime
        self.weightFactor = weightFactor
    }

    /// hls.js: half-lives 3 and 9 s (`abrEwmaFastVoD`, `abrEwmaSlowVoD`), downloads count as at least 50 ms
    /// (`minDelayMs_`). hls.js 1.6, src/config.ts, src/utils/ewma-bandwidth-estimator.ts. Recent versions take the time
    /// to the first byte out of the sample (not verified for which).
    public static let hlsJS = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(9)),
        time: .transfer,
        minimumSampleTime: .milliseconds(50)
    )

    /// Shaka Player 4: half-lives 2 and 5 s, samples under 16 kB left out, no estimate before 128 kB.
    /// lib/util/player_configuration.js (`abr.advanced`), lib/abr/ewma_bandwidth_estimator.js.
    public static let shaka = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(2), slowHalfLife: .seconds(5)),
        minimumSampleBytes: 16_000,
        trustedBytes: 128_000
    )

    /// dash.js 5: half-lives 3 and 8 s, weights of 0.0015 a millisecond. src/core/Settings.js (`abr.throughput.ewma`).
    /// `useDeadTimeLatency` counts the time to the first byte.
    public static let dashJS = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(8)),
        weightFactor: 1.5
    )

    /// Media3's `DefaultBandwidthMeter`: the median by square roots of bytes, total weight 2000
    /// (`DEFAULT_SLIDING_WINDOW_MAX_WEIGHT`), after 2000 ms or 512 KiB (`ELAPSED_MILLIS_FOR_ESTIMATE`,
    /// `BYTES_TRANSFERRED_FOR_ESTIMATE`).
    public static let exoPlayer = ThroughputEstimator(
        .percentile(0.5, maximumWeight: 2000),
        time: .transfer,
        trustedBytes: 524_288,
        trustedTime: .seconds(2)
    )

    /// Sabre's default: half-lives 3 and 8 s by transfer time. Sabre (Spiteri, MMSys 2018), `Ewma.default_half_life`.
    public static let sabre = ThroughputEstimator(
        .movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(8)),
        time: .transfer
    )
}

extension ThroughputEstimator {
    /// The throughput that decisions use, bit/s; nil as long as too little is known. Finite and above zero.
    public func bitrate(of history: ThroughputHistory) -> Double? {
        var samples: [(bitrate: Double, seconds: Double, bytes: Double)] = []
        var totalBytes = 0.0
        var totalTime = 0.0
        for sample in history.samples where sample.bytes >= max(minimumSampleBytes, 1) {
            let measured = time == .total ? sample.totalTime : sample.transferTime
            // What came from a cache in no time is counted as a microsecond.
            let seconds = max(measured.seconds, minimumSampleTime.seconds, 1e-6)
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
                Self.percentile(samples.map { ($0.bitrate, $0.bytes.squareRoot()) }, rank, maximum)
            case .mean(let count): Self.mean(samples.suffix(max(1, count)).map(\.bitrate))
            case .harmonicMean(let count): 1 / Self.mean(samples.suffix(max(1, count)).map { 1 / $0.bitrate })
            }
        return estimate.isFinite && estimate > 0 ? estimate : nil
    }

    /// The time to the first byte that decisions use, over the latest samples: seconds; zero if nothing is known.
    public func latency(of history: ThroughputHistory) -> Double {
        let latest = history.samples.suffix(4)
        return latest.isEmpty ? 0 : Self.mean(latest.map(\.timeToFirstByte.seconds))
    }

    /// An exponentially weighted average that began at zero, corrected for that: value ÷ (1 − ½^(weight ÷ half-life)).
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

    /// The value at which the weights of the smaller ones reach `rank` of all; the oldest weights beyond `maximum` are
    /// left out, the last of them in part. Media3, `SlidingPercentile`.
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
