internal import Instrument
internal import InstrumentManifests

// Servers with the same content, the steering server, and the server's clock.
extension StreamPlayback {
    /// Excludes the server of a resource if another server has the resource as well.
    mutating func useOtherLocation(than purpose: FetchPurpose, for time: Duration?, _ now: Timestamp) -> Bool {
        let plan = purpose.role.flatMap { tracks[$0]?.plan }
        guard let rendition = purpose.rendition ?? plan?.rendition,
            let moved = manifest.leaveServer(of: purpose, plan?.segment, rendition, for: time, now: now.instant)
        else { return false }
        for role in StreamRole.media {
            guard let planned = tracks[role]?.plan?.rendition, moved.contains(planned) else { continue }
            dropPlan(of: role, now)
        }
        if manifest.presentation?.format == .hls { follow(moved, now) }
        return true
    }

    /// Takes the order of a steering server. What is being fetched of a segment is finished.
    mutating func take(_ order: SteeringManifest, _ now: Timestamp) {
        follow(manifest.take(order, now: now.instant), now)
    }

    /// Continues with the playlists of other servers, which may count segments in another way.
    private mutating func follow(_ moved: Set<Rendition.ID>, _ now: Timestamp) {
        for role in StreamRole.media { tracks[role]?.continueByTime(in: moved) }
        for id in moved {
            fetches.forgetRetry(.playlist(id))
            guard let fetching = fetches.fetching(.playlist(id)) else { continue }
            fetches.cancel(fetching.number)
            session.count(fetching.ended(at: now.instant, hasFailed: false), at: now.instant)
        }
    }

    /// Asks the next clock; without another one, the local clock counts.
    mutating func clockFailed(_ failure: ResourceFailure, _ fetching: Fetching, _ now: Timestamp) {
        let message = "the clock that the MPD names cannot be read: \(failure.message)"
        apply(.warned(StreamWarning(.notSupported, message, fetching.request.url)), now)
        if let ask = manifest.askNextClock() { return apply(ask, now) }
        guard let waiting = manifest.clock.waiting else { return }
        do throws(ResourceFailure) {
            apply(try manifest.take(clockOffset: 0, nil), now)
            readAds(of: waiting.parsed, now)
        } catch {
            apply(.exhausted(ProbeError(error, fetching, source)), now)
        }
    }

    /// The servers keep their order; the steering server is asked again later.
    mutating func steeringFailed(_ failure: ResourceFailure, _ fetching: Fetching, _ now: Timestamp) {
        let message = "the steering server did not order the servers: \(failure.message)"
        apply(.warned(StreamWarning(.steering, message, fetching.request.url)), now)
        manifest.steeringFailed(failure.failure, now: now.instant)
    }
}
