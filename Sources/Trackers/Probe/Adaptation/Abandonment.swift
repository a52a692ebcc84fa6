internal import Instrument

/// The condition for aborting a download in favour of a lower rung.
package enum Abandonment: Hashable, Sendable {
    /// Never.
    case never
    /// Aborts if, `grace` after the request, the expected download time exceeds `factor` × the segment's duration.
    /// Continues with the rung that `fraction` of the measured throughput allows, if that rung's size is less than
    /// the rest.
    case slow(grace: Duration, factor: Double, fraction: Double)
    /// Aborts if bytes have come for more than `minimumTime`, the whole download would take at least `factor` × the
    /// segment's duration at the rate of those behind the first ones, and the buffer has at most `stableBuffer`.
    /// Continues with the rung that the rate allows, if that rung's size is less than the rest. A download without new
    /// bytes is continued.
    case progress(minimumTime: Duration, factor: Double, stableBuffer: Duration)
    /// Aborts if, later than half of the segment's duration, the buffer would be empty before the rest arrives.
    /// Continues with the highest rung that the download's throughput would bring in time, but never with the lowest
    /// rung unless the rung above it would arrive before the rest; and with the lowest rung if the rest would take more
    /// than twice as long as the segment of that highest rung. Never before the first segment has arrived.
    case starving

    /// Asks for a decision during the download. Aborts whenever the decision is another rung, higher or lower, whatever
    /// is left of the download.
    ///
    /// Shaka 5.2 fetches each segment through the map of its prefetched segments (lib/media/streaming_engine.js:1771,
    /// 3017), and a change of the stream clears that map (`switchInternal_`:663; lib/media/segment_prefetch.js:383,
    /// 522), before `shouldAbortCurrentRequest_` weighs the rest against the new segment.
    case decision

    /// Sabre (Spiteri, MMSys 2018), `AbandonmentReplacement` of its `Dynamic`: 500 ms, 1.8 and the safety factor 0.9.
    package static let sabre = Abandonment.slow(grace: .milliseconds(500), factor: 1.8, fraction: 0.9)

    /// dash.js 5.1, src/streaming/rules/abr/AbandonRequestsRule.js: more than 500 ms since the first byte, 1.8 × the
    /// duration, at most `bufferTimeDefault` (18 s) buffered; no safety factor (src/core/Settings.js). Browsers report
    /// progress every 50 ms (XMLHttpRequest standard, section 3.7), so that its six samples come before the 500 ms.
    package static let dashJS = Abandonment.progress(
        minimumTime: .milliseconds(500),
        factor: 1.8,
        stableBuffer: .seconds(18)
    )

    /// hls.js 1.7, src/controller/abr-controller.ts, `_abandonRulesCheck`.
    package static let hlsJS = Abandonment.starving

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
            // dash.js, src/streaming/models/MediaPlayerModel.js:222: near the live edge there is less to buffer.
            guard context.bufferLevel <= min(stableBuffer, context.live?.target ?? stableBuffer) else { return nil }
            return progress(download, context, minimumTime: minimumTime, factor: factor)
        case .starving: return emergency(download, context, estimate: estimate, latency: latency)?.rung
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
        // A response without a length is never abandoned (src/streaming/rules/abr/AbandonRequestsRule.js:83).
        guard let total = download.totalBytes.map(Double.init) else { return nil }
        // The first bytes stand for the latency (line 99).
        let rate = Double(download.receivedBytes - download.firstBytes) / (last - first).seconds
        let left = total - Double(download.receivedBytes)
        guard rate > 0, left > 0, total / rate >= factor * download.duration.seconds else { return nil }
        let other = context.rung(forBitrate: 8 * rate)
        guard other < download.rung else { return nil }
        return total * Self.ratio(other, download.rung, context) < left ? other : nil
    }

    /// What follows an aborted download of ``starving``.
    struct Emergency: Hashable {
        /// The rung to continue with.
        var rung: Int
        /// The bitrate that may replace the throughput estimate, bit/s.
        var estimate: Double
        /// Whether the bitrate replaces every estimate, or only one that would allow a higher rung.
        var replacesAlways = false
    }

    /// The decision of ``starving``; nil to continue the download. hls.js, src/controller/abr-controller.ts:253–470.
    func emergency(
        _ download: SegmentDownload,
        _ context: AdaptationContext,
        estimate: Double?,
        latency: Double
    ) -> Emergency? {
        let (elapsed, duration) = (download.elapsed.seconds, download.duration.seconds)
        let starvation = context.timeToStarvation.seconds
        // Line 287: no abort before the media element knows its media, which comes with the first segment.
        guard context.playhead != .paused, context.segment.index > 0,
            elapsed > max(latency, duration / context.playbackRate / 2), elapsed > 0,
            let lowest = context.allowedRungs.first, download.rung > lowest,
            let bitrate = Self.bitrate(of: download) ?? estimate, bitrate > 0
        else { return nil }
        let rest = max(0, Self.averageBytes(of: download, context) - Double(download.receivedBytes))
        let left = 8 * rest / bitrate + (download.receivedBytes == 0 ? latency : 0)
        guard left > starvation else { return nil }
        let time = { (rung: Int) in
            let transfer = duration * Double(context.ladder[rung].peakBitrate) / bitrate
            return context.timeToRequest(rung, latency: latency) + transfer
        }
        let lower = context.allowedRungs.filter { $0 < download.rung }
        // The lowest rung is what remains when no other arrives in time; what it would take is not computed.
        let inTime = lower.dropFirst().last { time($0) < min(starvation, duration + latency) }
        guard let candidate = inTime ?? lower.first, let judged = inTime ?? lower.dropFirst().first,
            time(judged) < left, time(judged) <= 10 * duration
        else { return nil }
        let carried = Double(context.ladder[candidate].peakBitrate)
        let best = Self.best(upTo: candidate, carrying: carried, starvation, latency: latency, duration, context)
        // Lines 429–461: the request is aborted at once, and what follows is the lowest rung.
        if left > 2 * time(judged), best > lowest {
            return Emergency(rung: lowest, estimate: Double(context.ladder[lowest].peakBitrate), replacesAlways: true)
        }
        return Emergency(rung: best, estimate: carried)
    }

    /// The highest rung up to `candidate` whose segment arrives before the buffer is empty if the link carries just
    /// `bitrate`; `candidate` without one, and in live streams (lines 392–403, `findBestLevel`).
    private static func best(
        upTo candidate: Int,
        carrying bitrate: Double,
        _ starvation: Double,
        latency: Double,
        _ duration: Double,
        _ context: AdaptationContext
    ) -> Int {
        if context.live != nil { return candidate }
        return context.allowedRungs.last { rung in
            let needed = Double(context.ladder[rung].peakBitrate)
            let time = context.timeToRequest(rung, latency: latency) + duration * needed / bitrate
            return rung <= candidate && needed <= bitrate && time < starvation
        } ?? candidate
    }

    /// Returns the size of the whole: as the server declares it, else by the average bitrate.
    private static func averageBytes(of download: SegmentDownload, _ context: AdaptationContext) -> Double {
        if let total = download.totalBytes { return Double(total) }
        let rung = context.ladder[download.rung]
        let bitrate = Double(rung.averageBitrate ?? rung.peakBitrate)
        return max(Double(download.receivedBytes), bitrate * download.duration.seconds / 8)
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
