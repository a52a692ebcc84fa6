internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

// The ads of a break, one after another.
extension AdCourse {
    /// The identifiers of the markers of an ad.
    private static let (milestone, limit) = (0, 1)

    mutating func playNext(_ situation: Situation) {
        guard case .breaking(var current) = phase else { return }
        deadline = nil
        current.ad = nil
        current.playback = nil
        phase = .breaking(current)
        while let planned = current.ads.popFirst() {
            phase = .breaking(current)
            guard room(for: planned, current) != 0 else { continue }
            return play(planned, situation)
        }
        finish(situation)
    }

    /// The media time that is left to an ad by `X-PLAYOUT-LIMIT` and the longest ad; nil without a limit, 0 for none.
    private func room(for planned: PlannedAd, _ current: CurrentBreak) -> Int64? {
        let longest = configuration.longestAd.nanoseconds
        guard let interstitial = current.adBreak.opportunities.first(where: { $0.id == planned.opportunity }),
            let limit = interstitial.playoutLimit
        else { return longest }
        let used = (current.played[planned.opportunity] ?? 0).saturatingAdd(planned.from)
        return max(0, min(longest, limit.saturatingSubtract(used)))
    }

    private mutating func play(_ planned: PlannedAd, _ situation: Situation) {
        if case .breaking(let current) = phase {
            callBreaks(
                upTo: current.adBreak.opportunities.firstIndex { $0.id == planned.opportunity } ?? 0,
                situation
            )
        }
        guard case .breaking(var current) = phase else { return }
        current.ad = planned
        current.playback = nil
        current.playbackID = randomness.identifier()
        current.limit = room(for: planned, current)
        phase = .breaking(current)
        guard planned.ad.linear != nil else { return failAd(.linearity, at: situation.now, situation) }
        guard let url = planned.url else { return failAd(.noSupportedFile, at: situation.now, situation) }
        adCount += 1
        deadline = situation.now.advanced(by: configuration.startTimeout)
        effects.append(.play(number: adCount, url: url, isStream: planned.isStream, from: planned.from))
        if isPausedByViewer {
            deadline = nil
            effects.append(.ad(.pause))
        }
    }

    mutating func ad(_ number: Int, _ news: PlaybackNews, _ situation: Situation) {
        guard number == adCount, case .breaking(let current) = phase, current.isPlaying else { return }
        switch news {
        case .signal(let signal): ad(signal, situation)
        case .ads, .held: break
        case .reached(let marker, let instant, let position):
            let time = position.saturatingSubtract(current.base)
            if marker.id == Self.limit { return endAd(at: instant, time, situation) }
            handleAd(.moved(to: time), at: instant, situation)
        }
    }

    private mutating func ad(_ signal: PlayerSignal, _ situation: Situation) {
        let instant = signal.instant ?? situation.now
        switch signal.action {
        case .start: startAd(at: instant, signal.status ?? situation.ad, situation)
        case .bufferBegin: waitForAd(true, at: instant, situation)
        case .bufferFinish: waitForAd(false, at: instant, situation)
        case .pauseBegin: handleAd(.paused, at: instant, situation)
        case .pauseFinish: handleAd(.resumed, at: instant, situation)
        case .error: if signal.attributes[.isFatal] == true { failAd(code(of: signal), at: instant, situation) }
        case .end:
            guard case .breaking(let current) = phase else { return }
            let position = signal.status?.position?.nanoseconds ?? situation.adPosition
            endAd(at: instant, position.saturatingSubtract(current.base), situation)
        default: break
        }
    }

    private func code(of signal: PlayerSignal) -> VASTErrorCode {
        switch signal.attributes[.errorCode] {
        case ProbeError.Code.notFound.description: .fileNotFound
        case ProbeError.Code.timedOut.description: .fileTimeOut
        case ProbeError.Code.unsupportedFormat.description, ProbeError.Code.unsupportedStream.description:
            .displayProblem
        default: .linear
        }
    }

    /// The first frame: only now the duration of the media is known.
    private mutating func startAd(at instant: MonotonicInstant, _ status: PlayerStatus, _ situation: Situation) {
        guard case .breaking(var current) = phase, let planned = current.ad, current.playback == nil else { return }
        deadline = nil
        let whole = status.duration?.nanoseconds ?? planned.ad.linear?.duration
        let end = current.limit.map { planned.from.saturatingAdd($0) }
        // Media without an end plays for as long as the ad server says.
        let isEndless = status.duration == nil
        let declared = isEndless ? planned.ad.linear?.duration : nil
        let stop = [end, declared].compactMap(\.self).min()
        let playback = AdPlayback(
            planned.ad,
            media: planned.media,
            mediaDuration: [whole, stop].compactMap(\.self).min()
        )
        current.playback = playback
        let begin = status.position?.nanoseconds ?? planned.from
        current.base = isEndless ? begin.saturatingSubtract(planned.from) : 0
        phase = .breaking(current)
        var markers = playback.dueTimes.map { due in
            PlaybackMarker(id: Self.milestone, at: due.nanoseconds.saturatingAdd(current.base))
        }
        if let stop {
            markers.append(PlaybackMarker(id: Self.limit, at: stop.saturatingAdd(current.base), holds: true))
        }
        effects.append(.ad(.mark(markers, from: begin)))
        effects.append(.content(.noteAd(at: instant)))
        handleAd(.loaded, at: instant, situation)
        handleAd(.started, at: instant, situation)
        // The probe has no view.
        handleAd(.viewability(.undetermined), at: instant, situation)
        if planned.from > 0 { handleAd(.moved(to: planned.from), at: instant, situation) }
    }

    /// An ad that waits for its media, before or after its start, waits only so long.
    private mutating func waitForAd(_ isWaiting: Bool, at instant: MonotonicInstant, _ situation: Situation) {
        guard case .breaking(let current) = phase, current.playback != nil else { return }
        deadline = isWaiting ? instant.advanced(by: configuration.startTimeout) : nil
        handleAd(.buffering(isWaiting), at: instant, situation)
    }

    /// The position in the ad now.
    private func time(in current: CurrentBreak, _ situation: Situation) -> Int64 {
        max(0, situation.adPosition.saturatingSubtract(current.base))
    }

    mutating func lateAd(_ situation: Situation) { failAd(.fileTimeOut, at: situation.now, situation) }

    private mutating func endAd(at instant: MonotonicInstant, _ position: Int64, _ situation: Situation) {
        guard case .breaking(var current) = phase, let planned = current.ad else { return }
        let time = max(0, position)
        current.add(time, playedOf: planned.opportunity)
        phase = .breaking(current)
        handleAd(.moved(to: time), at: instant, situation)
        handleAd(.ended, at: instant, situation)
        leaveAd(situation)
    }

    private mutating func failAd(_ code: VASTErrorCode, at instant: MonotonicInstant, _ situation: Situation) {
        guard case .breaking(var current) = phase, let planned = current.ad else { return }
        let hasStarted = current.playback != nil
        if hasStarted {
            current.add(time(in: current, situation), playedOf: planned.opportunity)
        } else {
            current.playback = AdPlayback(planned.ad, media: planned.media)
        }
        // An ad that has shown a part is not replaced; the others, by a stand-alone ad of the same response.
        let fallback = current.fallbacks.firstIndex { $0.opportunity == planned.opportunity }
        if !hasStarted, let fallback {
            current.ads = [current.fallbacks.remove(at: fallback)] + current.ads
        }
        phase = .breaking(current)
        handleAd(.failed(code), at: instant, situation)
        leaveAd(situation)
    }

    private mutating func leaveAd(_ situation: Situation) {
        effects.append(.endAd)
        playNext(situation)
    }

    mutating func perform(_ act: Viewer, _ situation: Situation) {
        guard case .breaking(var current) = phase, current.playback != nil, let planned = current.ad else { return }
        handleAd(.moved(to: time(in: current, situation)), at: situation.now, situation)
        switch act {
        case .click: handleAd(.clicked, at: situation.now, situation)
        case .skip:
            guard case .breaking(let moved) = phase, moved.playback?.canSkip == true else { return }
            handleAd(.skipped, at: situation.now, situation)
            current = moved
            current.add(time(in: current, situation), playedOf: planned.opportunity)
            phase = .breaking(current)
            leaveAd(situation)
        }
    }

    /// Brings an event to the ad, and reports what follows.
    mutating func handleAd(_ event: AdPlaybackEvent, at instant: MonotonicInstant, _ situation: Situation) {
        guard case .breaking(var current) = phase, var playback = current.playback, let planned = current.ad else {
            return
        }
        let outcome = playback.handle(event)
        current.playback = playback
        phase = .breaking(current)
        var status = AdStatus(playback.attributes)
        status.roll = current.adBreak.roll
        status.bitrate = situation.ad.bitrate ?? status.bitrate
        status.resolutionWidth = situation.ad.resolutionWidth ?? status.resolutionWidth
        status.resolutionHeight = situation.ad.resolutionHeight ?? status.resolutionHeight
        status.bufferedTime = .nanoseconds(situation.adPosition.saturatingAdd(situation.adBuffered))
        for report in outcome.reports {
            self.report(report.action, at: instant, status, report.attributes, situation)
        }
        call(outcome.beacons, of: current.playbackID, planned.ad, planned.media, situation.position)
    }
}

extension AdStatus {
    /// The status that the attributes of an ad's playback describe.
    init(_ attributes: Attributes) {
        self.init()
        (id, title, description) = (attributes[.adId], attributes[.adTitle], attributes[.adDescription])
        (advertiserName, creativeID) = (attributes[.adAdvertiserName], attributes[.adCreativeId])
        (system, bitrate) = (attributes[.adSystem], attributes[.adBitrate])
        (position, duration) = (attributes[.adPosition], attributes[.adDuration])
        resolutionWidth = attributes[.adResolutionWidth]
        resolutionHeight = attributes[.adResolutionHeight]
    }
}

// What breaks need from the network.
extension AdCourse {
    /// Requests what is unknown of a break.
    mutating func request(_ adBreak: AdPlan.Break) {
        for interstitial in adBreak.opportunities where plan.isUnknown(interstitial) {
            guard loading.insert(interstitial.id).inserted else { continue }
            if let served = plan.served(by: interstitial.id) {
                effects.append(.load(.adBreak(served), key: interstitial.id))
                continue
            }
            do throws(HTTPError) {
                let isFirst = interstitial.id == adBreak.opportunities.first?.id
                let url = try interstitial.request(
                    primaryID: primaryID,
                    startOffset: isFirst ? adBreak.joinOffset : 0
                )
                effects.append(.load(.list(url), key: interstitial.id))
            } catch {
                loading.remove(interstitial.id)
                plan.take(.failed, of: interstitial.id)
            }
        }
    }

    mutating func take(_ answer: AdAnswer, to request: AdRequest, _ key: String, _ situation: Situation) {
        loading.remove(key)
        if case .document = request {
            takeDocument(answer, situation)
            isDocumentKnown = true
            if case .preparing = phase, isContentKnown {
                phase = .content
                proceed(from: situation.position, situation, isJoining: true)
            }
            return
        }
        switch answer {
        case .selection(let selection, _):
            plan.take(selection, of: key)
            fail(selection.failures, situation)
        case .assets(let list): plan.take(.assets(list.assets), of: key)
        case .failed(let failure):
            plan.take(.failed, of: key)
            fail([failure], situation)
        case .schedule: plan.take(.failed, of: key)
        }
        if case .breaking(let current) = phase, !current.isResolved { resolve(current, situation) }
    }

    private mutating func takeDocument(_ answer: AdAnswer, _ situation: Situation) {
        switch answer {
        case .schedule(let document, let url): plan.take(document, at: url)
        case .selection(let selection, let url):
            if let url { plan.take(selection, at: url) }
            fail(selection.failures, situation)
        case .failed(let failure): fail([failure], situation)
        case .assets: break
        }
    }

    /// Reports ads and breaks that could not be loaded, and calls their addresses of errors.
    mutating func fail(_ failures: [AdFailure], _ situation: Situation) {
        for failure in failures {
            var attributes = Attributes()
            attributes[.adErrorCode] = failure.code.rawValue
            attributes[.errorDescription] = failure.message
            if case .breaking(let current) = phase { attributes[.adRoll] = current.adBreak.roll }
            report(.adError, at: situation.now, AdStatus(), attributes, situation)
            let beacons = failure.urls.map { AdBeacon(kind: .error(failure.code), url: $0, playhead: 0) }
            call(beacons, of: randomness.identifier(), nil, nil, situation.position)
        }
    }

    /// Passes beacons on, with the macros of the moment.
    mutating func call(
        _ beacons: [AdBeacon],
        of playback: String,
        _ ad: ResolvedAd?,
        _ media: MediaFile?,
        _ position: Int64
    ) {
        guard !beacons.isEmpty else { return }
        var macros = configuration.permittedMacros
        let playhead = AdCall.text(ofTime: position)
        macros["MEDIAPLAYHEAD"] = .text(playhead)
        macros["CONTENTPLAYHEAD"] = .text(playhead)
        if case .breaking(let current) = phase {
            macros["BREAKPOSITION"] = .text(
                ["pre": "1", "mid": "2", "post": "3"][current.adBreak.roll.rawValue] ?? "4"
            )
            macros["ADCOUNT"] = .text(String(current.requested))
        }
        effects.append(
            .call(AdBeaconCall(beacons: beacons, playback: playback, ad: ad, media: media, macros: macros))
        )
    }
}
