internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

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
