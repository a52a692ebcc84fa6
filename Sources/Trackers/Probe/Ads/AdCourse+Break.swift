internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

/// An ad in a break.
struct PlannedAd: Hashable, Sendable {
    /// The interstitial to which the ad belongs.
    var opportunity: String
    var ad: ResolvedAd
    var media: MediaFile?
    /// The address of the media; nil if no media file is playable.
    var url: HTTPURL?
    var isStream: Bool
    /// Where the ad begins: later than 0 if the playback joins in its middle.
    var from: Int64 = 0
    /// The ads that may take its place if it does not start.
    var fallbacks: ArraySlice<PlannedAd> = []
}

/// A break that is under way.
struct CurrentBreak: Sendable {
    let adBreak: AdPlan.Break
    /// When the content was held.
    let begun: MonotonicInstant
    /// Whether the ads are known, so that the break plays.
    var isResolved = false
    /// Whether the begin of the break was reported.
    var isReported = false
    /// How many interstitials have called the addresses of their begin.
    var begunCount = 0
    /// How many interstitials have called the addresses of their end.
    var endedCount = 0
    var requested = 0
    var ads: ArraySlice<PlannedAd> = []
    /// The stand-alone ads that may take the place of an ad that does not start.
    var fallbacks: ArraySlice<PlannedAd> = []
    var ad: PlannedAd?
    var playback: AdPlayback?
    var playbackID = ""
    /// The longest time for which the ad plays.
    var limit: Int64?
    /// The position of the ad's media at which the ad begins: later than 0 for media without an end.
    var base: Int64 = 0
    /// How long each interstitial has played.
    var played: [String: Int64] = [:]
    /// Where the person wanted to go during the break, or past the break.
    var wish: Int64?
    /// Whether the person's seek is why the break plays: the content is at the target already.
    var isSnappedBack = false

    /// Whether an ad has a player.
    var isPlaying: Bool { ad != nil }

    /// Counts time that an ad of an interstitial has played.
    mutating func add(_ time: Int64, playedOf interstitial: String) {
        played[interstitial] = (played[interstitial] ?? 0).saturatingAdd(time)
    }
}

// MARK: The begin and the end of a break
extension AdCourse {
    /// Begins a break; the content is held.
    mutating func enter(_ adBreak: AdPlan.Break, at instant: MonotonicInstant, _ situation: Situation) {
        let current = CurrentBreak(adBreak: adBreak, begun: instant)
        phase = .breaking(current)
        next = nil
        request(adBreak)
        deadline = situation.now.advanced(by: configuration.limits.totalTimeout)
        resolve(current, situation)
    }

    /// Plays the break once everything is known of it.
    mutating func resolve(_ current: CurrentBreak, _ situation: Situation) {
        guard !current.adBreak.opportunities.contains(where: { plan.isUnknown($0) }) else { return }
        var current = current
        deadline = nil
        current.isResolved = true
        (current.ads, current.fallbacks, current.played) = ads(of: current.adBreak)
        current.requested = requestCount(of: current.adBreak)
        guard current.requested > 0 else {
            phase = .breaking(current)
            return finish(situation)
        }
        current.isReported = true
        phase = .breaking(current)
        var attributes = Attributes()
        attributes[.adRoll] = current.adBreak.roll
        attributes[.adsRequested] = current.requested
        report(.adBreakBegin, at: current.begun, AdStatus(), attributes, situation)
        callBreaks(upTo: 0, situation)
        playNext(situation)
    }

    /// How many ads a break asks for: one where an ad server or a list failed to answer, none where a list is empty,
    /// which says that nothing is to play.
    private func requestCount(of adBreak: AdPlan.Break) -> Int {
        adBreak.opportunities.reduce(0) { count, interstitial in
            if let selection = plan.selections[interstitial.id] { return count + max(1, selection.ads.count) }
            if case .assets(let assets)? = plan.media[interstitial.id] { return count + assets.count }
            return count + 1
        }
    }

    /// An interstitial whose ads did not arrive in time plays nothing.
    mutating func lateAnswers(_ situation: Situation) {
        guard case .breaking(let current) = phase else { return }
        for interstitial in current.adBreak.opportunities where plan.isUnknown(interstitial) {
            plan.take(.failed, of: interstitial.id)
            let seconds = configuration.limits.totalTimeout.components.seconds
            let message = "the ads of the break were not there within \(seconds) s; check the ad server"
            fail([AdFailure(.wrapperUnavailable, message, urls: [])], situation)
        }
        resolve(current, situation)
    }

    /// The ads of a break, those that may take the place of one, and how much of each interstitial is over already.
    private func ads(
        of adBreak: AdPlan.Break
    ) -> (ads: ArraySlice<PlannedAd>, fallbacks: ArraySlice<PlannedAd>, passed: [String: Int64]) {
        var (ads, fallbacks, passed) = ([PlannedAd](), [PlannedAd](), [String: Int64]())
        for interstitial in adBreak.opportunities {
            var skip = interstitial.id == adBreak.opportunities.first?.id ? adBreak.joinOffset : 0
            if let selection = plan.selections[interstitial.id] {
                ads += selection.ads.map { planned($0, of: interstitial.id) }
                fallbacks += selection.fallbacks.map { planned($0, of: interstitial.id) }
                continue
            }
            for (number, asset) in assets(of: interstitial).enumerated() {
                let ad = ResolvedAd(assetOf: interstitial, number: number, duration: asset.duration)
                var planned = PlannedAd(opportunity: interstitial.id, ad: ad, url: asset.url, isStream: false)
                if let whole = asset.duration, whole > 0, whole <= skip {
                    skip -= whole
                    passed[interstitial.id, default: 0] += whole
                    continue
                }
                (planned.from, skip) = (skip, 0)
                ads.append(planned)
            }
        }
        return (ads[...], fallbacks[...], passed)
    }

    private func planned(_ ad: ResolvedAd, of id: String) -> PlannedAd {
        let media = ad.linear?.mediaFile(for: configuration.media)
        return PlannedAd(
            opportunity: id,
            ad: ad,
            media: media,
            url: media.flatMap { try? configuration.permittedMacros.expand($0.url).resolved() },
            isStream: media?.isStream ?? false
        )
    }

    private func assets(of interstitial: Interstitial) -> [(url: HTTPURL, duration: Int64?)] {
        switch (plan.media[interstitial.id], interstitial.source) {
        case (.failed?, _): return []
        case (.assets(let assets)?, _):
            return assets.map { asset in
                let url = (try? asset.request(primaryID: primaryID)) ?? asset.url
                return (url, asset.duration > 0 ? asset.duration : nil)
            }
        case (_, .asset(let url)):
            let address = (try? interstitial.request(primaryID: primaryID)) ?? url
            let duration = interstitial.duration ?? interstitial.plannedDuration
            return [(address, duration)]
        default: return []
        }
    }

    /// The last ad is over: content resumes.
    mutating func finish(_ situation: Situation) {
        guard case .breaking(let current) = phase else { return }
        deadline = nil
        if current.isReported {
            reportEnd(ofBreak: current.adBreak.roll, at: situation.now, situation)
            callBreaks(upTo: current.adBreak.opportunities.count, situation)
        }
        plan.finish(current.adBreak.opportunities)
        phase = .content
        if current.adBreak.roll == .post {
            next = nil
            isHeld = false
            return effects.append(.content(.release))
        }
        let left = current.isSnappedBack ? current.wish ?? situation.position : current.adBreak.position
        var resume = plan.resumePosition(of: current.adBreak, played: current.played, duration: situation.duration)
        if current.isSnappedBack { resume = max(left, resume) }
        if resume != left { effects.append(.content(.relocate(to: resume))) }
        if let wish = current.wish, !current.isSnappedBack {
            // Content that continues elsewhere resumes first: the seek is the person's.
            (isHeld, next) = (false, nil)
            effects.append(.content(.release))
            var moved = situation
            moved.position = resume
            return seek(to: wish, moved)
        }
        proceed(from: resume, situation)
    }

    mutating func reportEnd(ofBreak roll: AdRoll, at instant: MonotonicInstant, _ situation: Situation) {
        var attributes = Attributes()
        attributes[.adRoll] = roll
        report(.adBreakFinish, at: instant, AdStatus(), attributes, situation)
    }

    /// Calls the addresses of the begin and the end of breaks of a document, in their order: of several at one
    /// position, one ends before the next one begins (VMAP 1.0, section 2.3.6).
    /// - Parameter number: the interstitial that begins; the number of all of them at the end.
    mutating func callBreaks(upTo number: Int, _ situation: Situation) {
        guard case .breaking(var current) = phase else { return }
        let all = current.adBreak.opportunities
        while current.endedCount < number || current.begunCount <= number && current.begunCount < all.count {
            if current.begunCount == current.endedCount {
                callBreak("breakStart", \.startURLs, all[current.begunCount].id, situation)
                current.begunCount += 1
            } else {
                callBreak("breakEnd", \.endURLs, all[current.endedCount].id, situation)
                current.endedCount += 1
            }
        }
        phase = .breaking(current)
    }

    private mutating func callBreak(
        _ name: String,
        _ urls: KeyPath<AdBreak, [AdURL]>,
        _ interstitial: String,
        _ situation: Situation
    ) {
        guard let served = plan.served(by: interstitial) else { return }
        let beacons = served.adBreak[keyPath: urls].map {
            AdBeacon(kind: .event(TrackingEventName(name)), url: $0, playhead: 0)
        }
        call(beacons, of: "\(primaryID)-\(interstitial)", nil, nil, situation.position)
    }

    /// The content is over in the middle of a break.
    mutating func abandon(_ current: CurrentBreak, _ situation: Situation) {
        if current.playback != nil { handleAd(.closed, at: situation.now, situation) }
        if current.isPlaying { effects.append(.endAd) }
        if current.isReported { reportEnd(ofBreak: current.adBreak.roll, at: situation.now, situation) }
    }
}
