internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// What a player does when something cannot be had.
extension StreamLoader {
    /// A fetch has failed, or what came is of no use: it is tried again as the profile says, then replaced, then given up.
    mutating func failed(
        _ fetching: Fetching,
        _ failure: ResourceFailure,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        let purpose = fetching.purpose
        let failures = fetching.failures + 1
        if let fallback = profile.immediateFallback, case .status(let status) = failure.failure,
            fallback.statuses.contains(status),
            useOtherVariant(than: purpose, for: fallback.excludedFor, &session, now: now.instant)
        {
            retries[purpose] = nil
            return session.survive(ProbeError(failure, fetching, source), now: now.instant)
        }
        let chance = random.number(in: 0...1)
        if !failure.isFinal,
            let delay = fetching.policy.retryDelay(after: failure.failure, failures: failures, random: chance)
        {
            retries[purpose] = Retrying(failures: failures, notBefore: now.instant.advanced(by: delay))
            return
        }
        retries[purpose] = nil
        let error = ProbeError(failure, fetching, source)
        if canDoWithout(purpose, &session, error, now: now) { return }
        respond(to: error, purpose, &session, now: now)
    }

    /// A reload that fails leaves what is known; going stale is another matter.
    private mutating func canDoWithout(
        _ purpose: FetchPurpose,
        _ session: inout PlaybackSession,
        _ error: ProbeError,
        now: Timestamp
    ) -> Bool {
        switch purpose {
        case .manifest where presentation != nil:
            live.updateAt = now.instant.advanced(by: LiveState.patience)
        case .playlist(let id) where renditions[id]?.index != nil:
            renditions[id]?.reloadAt = now.instant.advanced(by: LiveState.patience)
        default: return false
        }
        warn(.latePlaylist, error.message, error.url, &session, now: now.instant)
        return true
    }

    private mutating func respond(
        to error: ProbeError,
        _ purpose: FetchPurpose,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        guard presentation != nil else { return give(up: error, &session, now: now.instant) }
        for response in profile.afterRetries {
            switch response {
            case .useOtherVariant(let time):
                if useOtherVariant(than: purpose, for: time, &session, now: now.instant) {
                    return session.survive(error, now: now.instant)
                }
            case .skipSegment:
                guard let role = purpose.role, let segment = tracks[role]?.plan?.segment else { continue }
                session.survive(error, now: now.instant)
                return skip(segment, role, error.message, &session, now: now.instant)
            case .fail: return give(up: error, &session, now: now.instant)
            }
        }
        give(up: error, &session, now: now.instant)
    }

    /// Leaves the rung alone that something was for, if there is another.
    private mutating func useOtherVariant(
        than purpose: FetchPurpose,
        for time: Duration?,
        _ session: inout PlaybackSession,
        now: MonotonicInstant
    ) -> Bool {
        guard let ladder, let plan = tracks[.main]?.plan, concernsMain(purpose, plan) else { return false }
        let others = ladder.indices.filter { $0 != plan.rung && excluded[$0] == nil }
        guard !others.isEmpty else { return false }
        excluded[plan.rung] = time.map { now.advanced(by: $0) } ?? MonotonicInstant(nanoseconds: .max)
        // It may be a playlist that failed while a segment of it was on its way.
        cancel(.main, &session)
        tracks[.main]?.plan = nil
        return true
    }

    private func concernsMain(_ purpose: FetchPurpose, _ plan: StreamTrack.Plan) -> Bool {
        switch purpose {
        case .manifest: false
        case .playlist(let id), .index(let id): id == plan.rendition
        case .initialization(let role), .key(let role), .segment(let role): role == .main
        }
    }
}

extension ProbeError {
    /// What a request that failed for good means for the viewer.
    init(_ failure: ResourceFailure, _ fetching: Fetching, _ source: MediaSource) {
        var status: Int?
        if case .status(let number) = failure.failure { status = number }
        self.init(
            Self.code(of: failure),
            fetching.purpose.phase,
            source,
            failure.message,
            url: fetching.request.url.description,
            status: status ?? failure.error?.status
        )
    }

    private static func code(of failure: ResourceFailure) -> Code {
        if failure.isWrongContent { return .wrongContent }
        if let manifest = failure.manifest {
            switch manifest.code {
            case .unsupported: return .unsupportedStream
            case .referenceRefused: return .refusedAddress
            case .limitExceeded: return .tooLarge
            case .notAManifest: return .wrongContent
            default: return .invalidManifest
            }
        }
        switch failure.failure {
        case .timeout: return .timedOut
        case .status(404), .status(410): return .notFound
        case .status: return .httpStatus
        case .connection: break
        }
        switch failure.error?.code {
        case .tls: return .tls
        case .responseTooLarge: return .tooLarge
        case .redirectRefused, .addressRefused, .invalidURL: return .refusedAddress
        default: return .connection
        }
    }
}
