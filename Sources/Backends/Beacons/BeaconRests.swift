internal import Instrument

/// What the deliveries of one process know of servers and lanes that took no beacon.
struct BeaconRests {
    /// An ad that began so recently has its first beacons sent at once, also to a server that rests.
    private static let freshTime: Int64 = 30_000

    /// The servers that took no beacon of a delivery.
    private(set) var servers = Rests<String>()
    /// The lanes whose beacon failed. A server may refuse one beacon and take the others.
    private(set) var lanes = Rests<Beacon.Lane>()
    /// The fresh lanes that have had their first attempt, with the time of their ad.
    private var tried: [Beacon.Lane: WallTime] = [:]

    /// Whether a beacon is one of the first of its ad, and no beacon of its lane has failed: it waits for no retry of
    /// an older beacon.
    func isFresh(_ beacon: Beacon, at now: WallTime) -> Bool {
        0..<Self.freshTime ~= now.milliseconds.saturatingSubtract(beacon.time.milliseconds) && tried[beacon.lane] == nil
    }

    /// Records the results of a delivery.
    mutating func record(_ run: BeaconRun, at now: MonotonicInstant, _ wallTime: WallTime, _ random: RandomSource) {
        for (server, result) in run.results {
            if result.hasAnswered {
                servers.answered(server)
            } else if result.hasFailed {
                servers.failed(server, wish: result.wish, at: now, random)
            }
        }
        for lane in run.sentLanes { lanes.answered(lane) }
        for failure in run.failures {
            // Of a server that takes no beacon at all, the lane is free as soon as the server is.
            let hasAnswered = run.results[failure.beacon.server]?.hasAnswered ?? false
            lanes.failed(failure.beacon.lane, wish: hasAnswered ? failure.wish : .zero, at: now, random)
            tried[failure.beacon.lane] = failure.beacon.time
        }
        servers.forgetEnded(at: now)
        lanes.forgetEnded(at: now)
        tried = tried.filter { wallTime.milliseconds.saturatingSubtract($0.value.milliseconds) < Self.freshTime }
    }

    /// The time up to the next attempt; nil if nothing rests.
    func next(after now: MonotonicInstant) -> Duration? {
        [servers.next(after: now), lanes.next(after: now)].compactMap(\.self).min()
    }
}
