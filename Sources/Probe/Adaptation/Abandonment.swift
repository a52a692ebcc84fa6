internal import Instrument

/// The condition for aborting a download in favour of a lower rung.
public enum Abandonment: Hashable, Sendable {
    /// Never.
    case never
    /// Aborts if, `grace` after the request, the expected download time exceeds `factor` × the segment's duration.
    /// Continues with the rung that `fraction` of the measured throughput allows, if that rung's size is less than
    /// the rest.
    case slow(grace: Duration, factor: Double, fraction: Double)
    /// Aborts if bytes have come for more than `minimumTime`, the whole download would take at least `factor` × the
    /// segment's duration at their rate, and the buffer has at most `stableBuffer`. Continues with the rung that the
    /// rate allows, if that rung's size is less than the rest. A download without new bytes is continued.
    case progress(minimumTime: Duration, factor: Double, stableBuffer: Duration)
    /// Aborts if, later than half of the segment's duration, the buffer would be empty before the rest arrives.
    /// Continues with the highest rung that the download's throughput would bring in time, but never with the lowest
    /// rung unless the rung above it would arrive before the rest.
    case starving

    /// Asks for a decision during the download. Aborts if it is another rung, higher or lower, whose segment would
    /// arrive before the buffer is empty, or is smaller than the rest of the download.
    case decision

    /// Sabre (Spiteri, MMSys 2018), `AbandonmentReplacement` of its `Dynamic`: 500 ms, 1.8 and the safety factor 0.9.
    public static let sabre = Abandonment.slow(grace: .milliseconds(500), factor: 1.8, fraction: 0.9)

    /// dash.js 5.1, src/streaming/rules/abr/AbandonRequestsRule.js: more than 500 ms since the first byte, 1.8 × the
    /// duration, at most `bufferTimeDefault` (18 s) buffered; no safety factor (src/core/Settings.js). Browsers report
    /// progress every 50 ms (XMLHttpRequest standard, section 3.7), so that its six samples come before the 500 ms.
    public static let dashJS = Abandonment.progress(
        minimumTime: .milliseconds(500),
        factor: 1.8,
        stableBuffer: .seconds(18)
    )

    /// hls.js 1.7, src/controller/abr-controller.ts, `_abandonRulesCheck`.
    public static let hlsJS = Abandonment.starving

    /// Returns the rung to continue with, or nil to continue the download.
    ///
    /// - Parameters:
    ///   - estimate: the throughput that earlier downloads had, bit/s; nil if unknown.
    ///   - latency: the time to the first byte that a new request is expected to have, in seconds.
    func rung(
        insteadOf download: SegmentDownload,
        estimate: Double?,
        latency: Double = 0,
        in context: AdaptationContext
    ) -> Int? {
        guard let lowest = context.allowedRungs.first, download.rung > lowest else { return nil }
        switch self {
        case .never, .decision: return nil
        case .slow(let grace, let factor, let fraction):
            return slow(download, context, grace: grace, factor: factor, fraction: fraction)
        case .progress(let minimumTime, let factor, let stableBuffer):
            guard context.bufferLevel <= stableBuffer else { return nil }
            return progress(download, context, minimumTime: minimumTime, factor: factor)
        case .starving: return starving(download, context, estimate: estimate, latency: latency)
        }
    }

    private func slow(
        _ download: SegmentDownload,
        _ context: AdaptationContext,
        grace: Duration,
        factor: Double,
        fraction: Double
    ) -> Int? {
        let elapsed = download.transferTime.seconds
        guard download.receivedBytes > 0, download.elapsed >= grace, elapsed > 0 else { return nil }
        let total = Self.expectedBytes(of: download, context)
        let left = total - Double(download.receivedBytes)
        let rate = Double(download.receivedBytes) / elapsed
        guard left > 0, download.elapsed.seconds + left / rate > factor * download.duration.seconds else { return nil }
        let other = context.rung(forBitrate: 8 * rate * fraction)
        guard other < download.rung else { return nil }
        return total * Self.ratio(other, download.rung, context) < left ? other : nil
    }

    private func progress(
        _ download: SegmentDownload,
        _ context: AdaptationContext,
        minimumTime: Duration,
        factor: Double
    ) -> Int? {
        guard let first = download.timeToFirstByte, let last = download.timeToLastByte, last - first > minimumTime
        else { return nil }
        let total = Self.expectedBytes(of: download, context)
        let rate = Double(download.receivedBytes) / (last - first).seconds
        let left = total - Double(download.receivedBytes)
        guard rate > 0, left > 0, total / rate >= factor * download.duration.seconds else { return nil }
        let other = context.rung(forBitrate: 8 * rate)
        guard other < download.rung else { return nil }
        return total * Self.ratio(other, download.rung, context) < left ? other : nil
    }

    private func starving(
        _ download: SegmentDownload,
        _ context: AdaptationContext,
        estimate: Double?,
        latency: Double
    ) -> Int? {
        let (elapsed, duration) = (download.elapsed.seconds, download.duration.seconds)
        let starvation = context.timeToStarvation.seconds
        guard context.playhead != .paused, elapsed > max(latency, duration / context.playbackRate / 2), elapsed > 0,
            let bitrate = Self.bitrate(of: download) ?? estimate, bitrate > 0
        else { return nil }
        // The server's length is not asked for: the average bitrate stands for it.
        let rest = max(0, Self.averageBytes(of: download, context) - Double(download.receivedBytes))
        let left = 8 * rest / bitrate + (download.receivedBytes == 0 ? latency : 0)
        guard left > starvation else { return nil }
        var time = Double.infinity
        // The lowest rung is what remains when no other arrives in time; what it would take is not computed.
        let lower = context.allowedRungs.filter { $0 < download.rung }
        var choice = lower.first
        for rung in lower.dropFirst().reversed() {
            time = latency + duration * Double(context.ladder[rung].peakBitrate) / bitrate
            if time < min(starvation, duration + latency) {
                choice = rung
                break
            }
        }
        guard time < left, time <= 10 * duration, let choice else { return nil }
        // On demand, a rung below takes less than the buffer has, if the link carries just the choice.
        if context.live != nil { return choice }
        let carried = Double(context.ladder[choice].peakBitrate)
        return lower.last { rung in
            let needed = Double(context.ladder[rung].peakBitrate)
            return rung <= choice && needed <= carried && latency + duration * needed / carried < starvation
        } ?? choice
    }

    private static func averageBytes(of download: SegmentDownload, _ context: AdaptationContext) -> Double {
        if let total = download.totalBytes { return Double(total) }
        let rung = context.ladder[download.rung]
        let bitrate = Double(rung.averageBitrate ?? rung.peakBitrate)
        return max(Double(download.receivedBytes), bitrate * download.duration.seconds / 8)
    }

    /// Whether to abort a download for another rung that was decided on: Shaka, lib/media/streaming_engine.js,
    /// `shouldAbortCurrentRequest_`.
    static func isWorthwhile(
        _ rung: Int,
        insteadOf download: SegmentDownload,
        estimate: Double,
        in context: AdaptationContext
    ) -> Bool {
        let bytes = Double(context.ladder[rung].peakBitrate) * download.duration.seconds / 8
        if 8 * bytes / max(1, estimate) < context.bufferLevel.seconds { return true }
        return expectedBytes(of: download, context) - Double(download.receivedBytes) > bytes
    }

    /// The bitrate of the download, bit/s; nil before its first byte.
    private static func bitrate(of download: SegmentDownload) -> Double? {
        let elapsed = download.transferTime.seconds
        guard download.receivedBytes > 0, download.timeToFirstByte != nil, elapsed > 0 else { return nil }
        return 8 * Double(download.receivedBytes) / elapsed
    }

    /// Returns the size of the whole: as the server declares it, else by the bitrate.
    private static func expectedBytes(of download: SegmentDownload, _ context: AdaptationContext) -> Double {
        if let total = download.totalBytes { return Double(total) }
        let bitrate = Double(context.ladder[download.rung].peakBitrate)
        return max(Double(download.receivedBytes), bitrate * download.duration.seconds / 8)
    }

    private static func ratio(_ one: Int, _ other: Int, _ context: AdaptationContext) -> Double {
        Double(context.ladder[one].peakBitrate) / Double(context.ladder[other].peakBitrate)
    }
}
