internal import Instrument
internal import InstrumentManifests

// Failed requests and unusable resources.
extension StreamPlayback {
    /// Responds to a failure by the profile: with another variant, a retry, or the response after the last retry.
    mutating func failed(_ fetching: Fetching, _ failure: ResourceFailure, _ now: Timestamp) {
        let purpose = fetching.purpose
        if case .clock = purpose { return clockFailed(failure, fetching, now) }
        if purpose == .patch { return patchFailed(failure, fetching, now) }
        if purpose.isHint { return hintFailed(failure, fetching, now) }
        if purpose == .steering { return steeringFailed(failure, fetching, now) }
        if subtitles.concerns(purpose) { return subtitlesFailed(failure, fetching, now) }
        if let fallback = profile.immediateFallback, case .status(let status) = failure.failure,
            fallback.statuses.contains(status), use(fallback, after: purpose, now)
        {
            fetches.forgetRetry(purpose)
            return apply(.survived(ProbeError(failure, fetching, source)), now)
        }
        let chance = randomness.number(in: 0...1)
        if fetches.planRetry(of: fetching, after: failure, randomness: chance, now: now.instant) { return }
        let error = ProbeError(failure, fetching, source)
        if case .useOtherLocation(let time)? = profile.afterRetries.first,
            useOtherLocation(than: purpose, for: time, now)
        {
            return apply(.survived(error), now)
        }
        if manifest.survivesFailure(of: purpose, now: now.instant) {
            let warning = StreamWarning(kind: .latePlaylist, message: error.message, url: error.url)
            return apply(.warned(warning), now)
        }
        respond(to: error, purpose, now)
    }

    /// Loads the whole MPD instead of a patch, as dash.js and Shaka do.
    private mutating func patchFailed(_ failure: ResourceFailure, _ fetching: Fetching, _ now: Timestamp) {
        let message = "the patch of the MPD cannot be used, and the whole MPD is loaded: \(failure.message)"
        apply(.warned(StreamWarning(.manifestPatch, message, fetching.request.url)), now)
        if let reload = manifest.wholeReload { apply(reload, now) }
    }

    private mutating func respond(to error: ProbeError, _ purpose: FetchPurpose, _ now: Timestamp) {
        guard manifest.presentation != nil else { return apply(.exhausted(error), now) }
        for response in profile.afterRetries {
            switch response {
            case .useOtherLocation(let time):
                if useOtherLocation(than: purpose, for: time, now) { return apply(.survived(error), now) }
            case .useOtherVariant(let time):
                if useOtherVariant(than: purpose, for: time, now) { return apply(.survived(error), now) }
            case .skipSegment:
                guard let role = purpose.role, let segment = tracks[role]?.plan?.segment else { continue }
                apply(.survived(error), now)
                // Of a segment and its initialization section, the other one may still be under way.
                apply(.cancelFetches(role), now)
                return skip(segment, role, error.message, now)
            case .fail: return apply(.exhausted(error), now)
            }
        }
        apply(.exhausted(error), now)
    }

    /// Responds to a failure without a retry.
    private mutating func use(_ fallback: ImmediateFallback, after purpose: FetchPurpose, _ now: Timestamp) -> Bool {
        if let time = fallback.locationExcludedFor, useOtherLocation(than: purpose, for: time, now) { return true }
        return useOtherVariant(than: purpose, for: fallback.excludedFor, now)
    }

    /// Excludes the planned rung if its resource failed and another rung exists.
    private mutating func useOtherVariant(than purpose: FetchPurpose, for time: Duration?, _ now: Timestamp) -> Bool {
        guard let ladder = manifest.ladder, let plan = tracks[.main]?.plan, concernsMain(purpose, plan),
            choice.exclude(plan.rung, of: ladder, for: time, now: now.instant)
        else { return false }
        // A playlist may have failed during the request of a segment of its rendition.
        apply(.cancelFetches(.main), now)
        tracks[.main]?.dropPlan()
        return true
    }

    private func concernsMain(_ purpose: FetchPurpose, _ plan: TrackLoading.Plan) -> Bool {
        switch purpose {
        case .manifest, .patch, .clock, .steering, .licence, .hint: false
        case .playlist(let id), .index(let id): id == plan.rendition
        case .initialization(let role), .key(let role), .segment(let role): role == .main
        }
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
