internal import Instrument
internal import InstrumentAds

/// An ad that is a part of the presentation: content does not stop for it.
struct CurrentPeriod: Sendable {
    let ad: StreamAds.StitchedAd
    let roll: AdRoll
    var playback: AdPlayback
}

// Ads that the server has put between the periods of an MPD.
extension AdCourse {
    /// The markers of the ads of periods at a position or behind it.
    func periodMarks(from position: Int64, _ situation: Situation) -> [(Mark, Int64)] {
        var found: [(Mark, Int64)] = []
        for ad in plan.stream.stitched where ad.start >= position && ad != period?.ad {
            found.append((.period(ad), ad.start))
        }
        guard let period else { return found }
        for due in period.playback.dueTimes {
            let place = period.ad.start.saturatingAdd(due.nanoseconds)
            if place > position, place < period.ad.end { found.append((.periodMilestone(period.ad), place)) }
        }
        let isLast = situation.duration.map { period.ad.end >= $0 } ?? false
        found.append((.periodEnd(period.ad), isLast ? PlaybackMarker.endPosition : period.ad.end))
        return found
    }

    /// The playhead is at a position: an ad whose period it has left ends, and one into which it has come begins.
    mutating func followPeriods(at position: Int64, _ situation: Situation) {
        let left = period?.ad
        if let left, !(left.start..<left.end ~= position) { endPeriod(.closed, at: situation.now, situation) }
        guard period == nil else { return }
        let ads = plan.stream.stitched
        let entered = ads.first { $0.start < position && position < $0.end }
        // The begin of an ad has a marker.
        let isAtBegin = ads.contains { $0.start == position }
        if periodBreak != nil, !isAtBegin, entered.map({ !isRun(from: left ?? $0, to: $0) }) ?? true {
            endPeriodBreak(at: situation.now, situation)
        }
        if hasStarted, let entered { beginPeriod(entered, at: situation.now, position, situation) }
    }

    /// The ads that follow each other without content in between, with an ad among them.
    private func run(with ad: StreamAds.StitchedAd) -> ArraySlice<StreamAds.StitchedAd> {
        let ads = plan.stream.stitched
        guard var first = ads.firstIndex(of: ad) else { return [ad] }
        var last = first
        while first > 0, ads[first - 1].isFollowed(by: ads[first]) { first -= 1 }
        while last + 1 < ads.count, ads[last].isFollowed(by: ads[last + 1]) { last += 1 }
        return ads[first...last]
    }

    private func isRun(from: StreamAds.StitchedAd, to: StreamAds.StitchedAd) -> Bool { run(with: from).contains(to) }

    mutating func beginPeriod(
        _ ad: StreamAds.StitchedAd,
        at instant: MonotonicInstant,
        _ position: Int64,
        _ situation: Situation
    ) {
        if period != nil { endPeriod(.ended, at: instant, situation) }
        let roll = periodBreak ?? beginPeriodBreak(with: ad, at: instant, situation)
        let length = ad.end.saturatingSubtract(ad.start)
        let resolved = ResolvedAd(assetID: ad.id, creativeID: ad.id, duration: length)
        period = CurrentPeriod(ad: ad, roll: roll, playback: AdPlayback(resolved, media: nil))
        handlePeriod(.started, at: instant, situation)
        handlePeriod(.moved(to: position.saturatingSubtract(ad.start)), at: instant, situation)
    }

    private mutating func beginPeriodBreak(
        with ad: StreamAds.StitchedAd,
        at instant: MonotonicInstant,
        _ situation: Situation
    ) -> AdRoll {
        let run = run(with: ad)
        let isLast = situation.duration.map { run.last?.end ?? 0 >= $0 } ?? false
        let roll: AdRoll = run.first?.start == 0 ? .pre : isLast ? .post : .mid
        periodBreak = roll
        var attributes = Attributes()
        (attributes[.adRoll], attributes[.adsRequested]) = (roll, run.count { $0.start >= ad.start })
        report(.adBreakBegin, at: instant, AdStatus(), attributes, situation)
        return roll
    }

    mutating func handlePeriod(_ event: AdPlaybackEvent, at instant: MonotonicInstant, _ situation: Situation) {
        guard var current = period else { return }
        let outcome = current.playback.handle(event)
        period = current
        var status = AdStatus(current.playback.attributes)
        status.roll = current.roll
        for made in outcome.reports { report(made.action, at: instant, status, made.attributes, situation) }
    }

    /// Ends the ad; the break ends with it unless another ad follows at once.
    mutating func endPeriod(_ event: AdPlaybackEvent, at instant: MonotonicInstant, _ situation: Situation) {
        guard let current = period else { return }
        handlePeriod(event, at: instant, situation)
        period = nil
        guard event == .ended, !plan.stream.stitched.contains(where: { current.ad.isFollowed(by: $0) }) else { return }
        endPeriodBreak(at: instant, situation)
    }

    mutating func endPeriodBreak(at instant: MonotonicInstant, _ situation: Situation) {
        guard let roll = periodBreak else { return }
        periodBreak = nil
        reportEnd(ofBreak: roll, at: instant, situation)
    }
}

extension StreamAds.StitchedAd {
    /// Periods whose times an MPD has rounded still follow each other, in nanoseconds.
    private static let tolerance: Int64 = 1_000_000

    /// Whether another ad begins where this one ends.
    func isFollowed(by other: Self) -> Bool {
        other != self && other.start.saturatingSubtract(end).magnitude <= Self.tolerance
    }
}
