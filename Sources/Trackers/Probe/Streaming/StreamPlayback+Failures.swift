internal import Instrument
internal import InstrumentManifests

// Failed requests and unusable resources.
extension StreamPlayback {
    /// A failed request, and the number of failures that the profile's player counts.
    private struct Incident {
        var fetching: Fetching
        var failure: ResourceFailure
        var count: Int?

        var purpose: FetchPurpose { fetching.purpose }
        var cause: RetryPolicy.Failure { failure.failure }
    }

    /// The delay before the next reload of what stays in use after a failed one, where the profile names none.
    static let reloadPause: Duration = .seconds(1)

    /// Responds to a failure by the profile's plan.
    mutating func failed(_ fetching: Fetching, _ failure: ResourceFailure, _ now: Timestamp) {
        let purpose = fetching.purpose
        if case .clock = purpose { return clockFailed(failure, fetching, now) }
        if purpose == .element {
            manifest.elements.take(.failure(failure), limits: ManifestLimits())
            return elementsChanged(nil, now)
        }
        if purpose == .patch { return patchFailed(failure, fetching, now) }
        if purpose.isHint { return hintFailed(failure, fetching, now) }
        if purpose == .steering { return steeringFailed(failure, fetching, now) }
        if subtitles.concerns(purpose) { return subtitlesFailed(failure, fetching, now) }
        fetches.forgetRetry(purpose)
        let incident = Incident(fetching: fetching, failure: failure, count: countFailure(of: purpose))
        let plan = profile.failurePlan
        let isReload = manifest.isReload(purpose)
        for response in plan.responses where response == .retry || plan.reloadsUseAlternatives || !isReload {
            if respond(with: response, to: incident, now) { return }
        }
        let error = ProbeError(failure, fetching, source)
        guard isReload else { return apply(.exhausted(error), now) }
        reloadFailed(error, purpose, now)
    }

    /// What follows a failed reload without a possible response.
    private mutating func reloadFailed(_ error: ProbeError, _ purpose: FetchPurpose, _ now: Timestamp) {
        switch profile.failurePlan.failedReload {
        case .keepsTrying(let pause):
            // At least some time, so that a server that refuses at once is not asked in a tight loop.
            let next = now.instant.advanced(by: max(pause, .milliseconds(100)))
            manifest.survivesReload(purpose, nextAt: next)
            apply(.warned(StreamWarning(kind: .latePlaylist, message: error.message, url: error.url)), now)
        case .stopsReloading:
            manifest.survivesReload(purpose, nextAt: nil)
            apply(.survived(error), now)
        case .ends: apply(.exhausted(error), now)
        }
    }

    /// Loads the whole MPD instead of a patch, as dash.js and Shaka do.
    private mutating func patchFailed(_ failure: ResourceFailure, _ fetching: Fetching, _ now: Timestamp) {
        let message = "the patch of the MPD cannot be used, and the whole MPD is loaded: \(failure.message)"
        apply(.warned(StreamWarning(.manifestPatch, message, fetching.request.url)), now)
        if let reload = manifest.wholeReload { apply(reload, now) }
    }

    /// Counts a failure across variants, if the profile's player does; nil otherwise.
    private mutating func countFailure(of purpose: FetchPurpose) -> Int? {
        guard profile.failurePlan.counting == .acrossVariants, purpose.role != nil,
            let rung = tracks[.main]?.currentRung
        else { return nil }
        return failureCount.add(at: rung)
    }

    /// The track that needs a resource; nil for none.
    private func role(of purpose: FetchPurpose) -> StreamRole? {
        if let role = purpose.role { return role }
        return purpose.rendition.flatMap { id in StreamRole.media.first { tracks[$0]?.renditionInUse == id } }
    }
}

// MARK: Responses
extension StreamPlayback {
    /// - Returns: false if the response is not possible.
    private mutating func respond(with response: FailureResponse, to incident: Incident, _ now: Timestamp) -> Bool {
        let (purpose, cause) = (incident.purpose, incident.cause)
        switch response {
        case .retry: return retry(incident, now)
        case .retryAnyFailure: return role(of: purpose) != nil && retry(incident, ignoresStatus: true, now)
        case .useOtherLocation(let time, let condition):
            guard condition.holds(for: cause), useOtherLocation(than: purpose, for: time, now) else { return false }
        case .useOtherVariant(let time, let condition):
            guard condition.holds(for: cause), useOtherVariant(than: purpose, for: time, now) else { return false }
            delayChange(of: .main, now)
        case .useNextLowerVariant:
            guard useNextLowerVariant(than: purpose, now) else { return false }
        case .useOtherAudio(let time, let condition):
            guard condition.holds(for: cause), useOtherAudio(than: purpose, for: time, now) else { return false }
            delayChange(of: .audio, now)
        case .skipSegment:
            guard let role = purpose.role, let segment = tracks[role]?.plan?.segment else { return false }
            apply(.survived(error(of: incident)), now)
            return leave(segment, role, incident, now)
        case .skipLiveSegment:
            guard let role = purpose.role, let segment = listedSegment(of: purpose) else { return false }
            return leave(segment, role, incident, now)
        case .restartLive(let pause):
            guard role(of: purpose) != nil, isLive else { return false }
            fetches.planRestart(of: purpose, at: now.instant.advanced(by: pause))
        }
        // Until then, the earlier playlist stays in use, if nothing replaces it.
        if manifest.isReload(purpose) {
            manifest.survivesReload(purpose, nextAt: now.instant.advanced(by: Self.reloadPause))
        }
        apply(.survived(error(of: incident)), now)
        return true
    }

    private func error(of incident: Incident) -> ProbeError { ProbeError(incident.failure, incident.fetching, source) }

    private mutating func retry(_ incident: Incident, ignoresStatus: Bool = false, _ now: Timestamp) -> Bool {
        let view = view(now)
        return fetches.planRetry(
            of: incident.fetching,
            after: incident.failure,
            count: incident.count,
            ignoresStatus: ignoresStatus,
            randomness: randomness.number(in: 0...1),
            now: now.instant
        ) { view.isBuffered(until: $0) }
    }

    /// A segment of a live stream that is not the last one listed; nil for any other resource.
    private func listedSegment(of purpose: FetchPurpose) -> MediaSegment? {
        guard purpose.kind != .initialization, let plan = purpose.role.flatMap({ tracks[$0]?.plan }),
            let segment = plan.segment, let state = manifest[plan.rendition], state.isLive,
            let last = state.index?.lastTimes, segment.sequence < last.sequence
        else { return nil }
        return segment
    }

    private mutating func leave(_ segment: MediaSegment, _ role: StreamRole, _ incident: Incident, _ now: Timestamp)
        -> Bool
    {
        // Of a segment and its initialization section, the other one may still be under way.
        apply(.cancelFetches(role), now)
        skip(segment, role, incident.failure.message, now)
        return true
    }

    /// Excludes the rung of the main track if its resource failed and another rung exists.
    private mutating func useOtherVariant(than purpose: FetchPurpose, for time: Duration?, _ now: Timestamp) -> Bool {
        guard role(of: purpose) == .main, let ladder = manifest.ladder, let rung = tracks[.main]?.currentRung,
            choice.exclude(rung, of: ladder, for: time, now: now.instant)
        else { return false }
        // A playlist may have failed during the request of a segment of its rendition.
        dropPlan(of: .main, now)
        return true
    }

    /// Excludes the rung of the main track, and takes the next lower one that is not excluded for the next segment.
    ///
    /// hls.js, src/controller/error-controller.ts, `getLevelSwitchAction`.
    private mutating func useNextLowerVariant(than purpose: FetchPurpose, _ now: Timestamp) -> Bool {
        guard let role = role(of: purpose), let ladder = manifest.ladder, let rung = tracks[.main]?.currentRung else {
            return false
        }
        let rungs = ladder.indices.filter { role == .main || hasOtherAudio($0, than: rung) }
        guard let next = choice.nextLower(than: rung, among: rungs, of: ladder),
            let variant = manifest.variant(at: next),
            choice.exclude(rung, of: ladder, for: nil, now: now.instant)
        else { return false }
        apply(.cancelFetches(.main), now)
        tracks[.main]?.choose(rung: next, rendition: variant.main)
        if role == .audio { dropPlan(of: .audio, now) }
        return true
    }

    private func hasOtherAudio(_ rung: Int, than failing: Int) -> Bool {
        guard let audio = manifest.variant(at: rung)?.audio, let current = manifest.variant(at: failing)?.audio else {
            return false
        }
        return Set(audio).isDisjoint(with: current)
    }

    private mutating func useOtherAudio(than purpose: FetchPurpose, for time: Duration, _ now: Timestamp) -> Bool {
        guard role(of: purpose) == .audio, let failing = tracks[.audio]?.renditionInUse,
            let variant = tracks[.main]?.currentRung.flatMap(manifest.variant),
            choice.exclude(audio: failing, of: variant, in: manifest, until: now.instant.advanced(by: time))
        else { return false }
        dropPlan(of: .audio, now)
        return true
    }

    /// Lets a track wait before it requests its other variant or rendition, if the profile's player does.
    private mutating func delayChange(of role: StreamRole, _ now: Timestamp) {
        guard let backoff = profile.failurePlan.changeDelay else { return }
        let delay = backoff.delay(after: 1, randomness: randomness.number(in: 0...1))
        tracks[role]?.works(until: now.instant.advanced(by: delay))
    }

    /// Cancels what is being fetched for a track, and lets it plan its next segment again.
    mutating func dropPlan(of role: StreamRole, _ now: Timestamp) {
        apply(.cancelFetches(role), now)
        tracks[role]?.dropPlan()
    }

    /// Leaves a live playlist that no longer changes for that of another server or variant, as after a failed reload;
    /// without one, the playback ends.
    mutating func leaveStalePlaylist(_ id: Rendition.ID, _ error: ProbeError, _ now: Timestamp) {
        guard !isOver else { return }
        let plan = profile.failurePlan
        for response in plan.responses where plan.reloadsUseAlternatives && manifest.presentation?.format == .hls {
            let isUsed =
                switch response {
                case .useOtherLocation(let time, .any): useOtherLocation(than: .playlist(id), for: time, now)
                case .useOtherVariant(let time, .any): useOtherVariant(than: .playlist(id), for: time, now)
                default: false
                }
            if isUsed { return apply(.survived(error), now) }
        }
        apply(.exhausted(error), now)
    }

    /// Continues after a missing segment.
    mutating func skip(_ segment: MediaSegment, _ role: StreamRole, _ reason: String, _ now: Timestamp) {
        guard tracks[role]?.plan != nil else { return }
        let message = "segment \(segment.sequence) is missing: \(reason)"
        apply(.warned(StreamWarning(.missingSegment, message, segment.url)), now)
        tracks[role]?.skip(segment)
        // Before any media has arrived, playback starts after the missing segment.
        if session.model == nil { apply(.start(at: max(segment.end, session.pendingSeek ?? 0)), now) }
        apply(feed.skip(segment, role, view(now)), now)
    }
}
