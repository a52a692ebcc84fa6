internal import Instrument

/// The beacons of one delivery: which is sent next, and why the others wait.
///
/// A value without clock and network. Beacons of one lane are sent one after another. A server has a few requests at a
/// time, and requests that wait for long count no more: servers that do not answer leave connections for the others.
struct BeaconRun {
    /// What may be sent at an instant.
    struct Situation {
        var now: MonotonicInstant
        var wallTime: WallTime
        var rests: BeaconRests
        /// Somebody waits for the end of all deliveries: every server is tried once more.
        var isFlushing = false
        /// Only servers that have answered take further beacons: the delivery shall end.
        var isDraining = false
    }

    /// The results of a server.
    struct ServerResult {
        var hasAnswered = false
        var hasFailed = false
        /// The longest delay that the server asked for.
        var wish: Duration?
    }

    /// An attempt that failed.
    struct Failure {
        var beacon: Beacon
        var wish: Duration?
    }

    /// The order in which a server's lanes are served.
    private enum Rank: Int, CaseIterable { case fresh, usual, failedBefore }

    private struct Line {
        var rank: Rank
        var beacons: ArraySlice<Beacon> = []
        /// Whether the lane is among those of its server that have a beacon to send.
        var isQueued = false
        var isUnderWay = false
        var isStopped = false

        var isResting: Bool { !isQueued && !isUnderWay && !beacons.isEmpty }
    }

    private struct Server {
        var queued: [ArraySlice<Beacon.Lane>] = Rank.allCases.map { _ in [] }
        /// The lanes that may not send at present.
        var resting: [Beacon.Lane] = []
        var underWay = 0
        var isSilent = false
        /// Whether the server is in the order in which servers are served.
        var isListed = false
    }

    /// A request that waits for longer counts no more among those at the same time.
    private static let patience = Duration.seconds(1)

    private let maxAtOnce: Int
    /// The servers that were tried for the present flush.
    var triedForFlush: Set<String>
    private var lines: [Beacon.Lane: Line] = [:]
    private var servers: [String: Server] = [:]
    private var order: ArraySlice<String> = []
    private var known: Set<SampleID> = []
    private var started: [SampleID: MonotonicInstant] = [:]

    /// The results by server.
    private(set) var results: [String: ServerResult] = [:]
    /// The lanes of which a beacon was sent.
    private(set) var sentLanes: Set<Beacon.Lane> = []
    /// The attempts that failed.
    private(set) var failures: [Failure] = []
    /// Why the first beacon that failed waits; nil if none failed.
    private(set) var reason: String?

    init(maxAtOnce: Int, triedForFlush: Set<String> = []) {
        (self.maxAtOnce, self.triedForFlush) = (maxAtOnce, triedForFlush)
    }

    /// A server that does not answer has at most an eighth of the connections.
    private var mostOfServer: Int { max(1, maxAtOnce / 8) }
    /// Requests that wait for long must not become any number either.
    private var mostUnderWay: Int { maxAtOnce.saturatingMultiply(4) }
    /// The number of requests under way.
    var underWay: Int { started.count }

    /// Whether a request has been under way for long.
    func isWaiting(at now: MonotonicInstant) -> Bool {
        started.values.contains { $0.duration(to: now) >= Self.patience }
    }

    /// Adds beacons of the batch; later beacons must come after earlier ones.
    mutating func add(_ beacon: Beacon, _ situation: Situation) {
        guard known.insert(beacon.id).inserted else { return }
        let lane = beacon.lane
        let rests = situation.rests
        let usual = rests.lanes.contains(lane) ? Rank.failedBefore : .usual
        let rank = rests.isFresh(beacon, at: situation.wallTime) ? .fresh : usual
        lines[lane, default: Line(rank: rank)].beacons.append(beacon)
        enqueue(lane)
    }

    /// Adds a beacon that waits behind the batch, if it can be sent now; returns whether it can.
    mutating func addAhead(_ beacon: Beacon, _ situation: Situation) -> Bool {
        if situation.isDraining, results[beacon.server]?.hasAnswered != true { return false }
        guard !known.contains(beacon.id), !isBlocked(beacon, situation) else { return false }
        // A beacon must not overtake those of its lane that wait.
        if let line = lines[beacon.lane], line.isStopped || line.isResting { return false }
        add(beacon, situation)
        return true
    }

    private mutating func enqueue(_ lane: Beacon.Lane) {
        guard var line = lines[lane], !line.isQueued, !line.isUnderWay, !line.isStopped, !line.beacons.isEmpty else {
            return
        }
        line.isQueued = true
        lines[lane] = line
        servers[lane.server, default: Server()].queued[line.rank.rawValue].append(lane)
        list(lane.server)
    }

    private mutating func list(_ name: String) {
        guard servers[name]?.isListed == false else { return }
        servers[name]?.isListed = true
        order.append(name)
    }

    /// Looks again at the lanes that rest.
    mutating func reconsider() { for name in servers.keys { reconsider(name) } }

    private mutating func reconsider(_ name: String) {
        guard let resting = servers[name]?.resting, !resting.isEmpty else { return }
        servers[name]?.resting = []
        for lane in resting { enqueue(lane) }
    }

    /// Whether a beacon has to wait for its server or its lane.
    private func isBlocked(_ beacon: Beacon, _ situation: Situation) -> Bool {
        let (name, rests, now) = (beacon.server, situation.rests, situation.now)
        let result = results[name] ?? ServerResult()
        if situation.isDraining, !result.hasAnswered, wasTried(name) { return true }
        // A beacon whose time is over has its last attempt.
        if beacon.isExpired(at: situation.wallTime) { return false }
        if servers[name]?.isSilent == true { return true }
        if situation.isFlushing, !triedForFlush.contains(name) { return false }
        if rests.lanes.isResting(beacon.lane, at: now) { return true }
        if result.hasAnswered { return false }
        if rests.servers.isResting(byWish: name, at: now) || result.wish != nil { return true }
        if rests.isFresh(beacon, at: situation.wallTime) { return false }
        return result.hasFailed || rests.servers.isResting(name, at: now)
    }

    /// Whether a request to a server has begun in this delivery.
    private func wasTried(_ name: String) -> Bool { results[name] != nil || servers[name]?.underWay ?? 0 > 0 }

    /// The next beacon to send; nil if none may be sent now.
    mutating func next(_ situation: Situation) -> Beacon? {
        guard underWay < mostUnderWay else { return nil }
        let busy = started.values.count { $0.duration(to: situation.now) < Self.patience }
        guard busy < maxAtOnce else { return nil }
        while let name = order.popFirst() {
            let isDoubtful = situation.rests.servers.contains(name) && results[name]?.hasAnswered != true
            let most = isDoubtful ? 1 : mostOfServer
            // A server is listed again by the end of its next request, and by the next look.
            guard servers[name]?.underWay ?? 0 < most, let beacon = take(from: name, situation) else {
                servers[name]?.isListed = false
                continue
            }
            order.append(name)
            return beacon
        }
        return nil
    }

    /// The next beacon of a server.
    private mutating func take(from name: String, _ situation: Situation) -> Beacon? {
        for rank in Rank.allCases {
            while let lane = servers[name]?.queued[rank.rawValue].popFirst() {
                lines[lane]?.isQueued = false
                guard let beacon = lines[lane]?.beacons.first else { continue }
                if isBlocked(beacon, situation) {
                    servers[name]?.resting.append(lane)
                    continue
                }
                _ = lines[lane]?.beacons.popFirst()
                lines[lane]?.isUnderWay = true
                servers[name]?.underWay += 1
                started[beacon.id] = situation.now
                if situation.isFlushing { triedForFlush.insert(name) }
                return beacon
            }
        }
        return nil
    }

    /// Whether the server of a beacon let another request of this delivery run out of time.
    func isSilent(_ beacon: Beacon) -> Bool { servers[beacon.server]?.isSilent ?? false }

    /// Records the result of a beacon that was sent.
    mutating func finish(_ beacon: Beacon, _ attempt: BeaconAttempt) {
        let (name, lane) = (beacon.server, beacon.lane)
        started[beacon.id] = nil
        servers[name]?.underWay -= 1
        lines[lane]?.isUnderWay = false
        var result = results[name] ?? ServerResult()
        switch attempt.result {
        case .sent, .refused:
            result.hasAnswered = true
            sentLanes.insert(lane)
        case .givenUp: result.hasFailed = true
        case .waiting(let wish, let reason):
            result.hasFailed = true
            result.wish = [result.wish, wish].compactMap(\.self).max()
            lines[lane]?.isStopped = true
            failures.append(Failure(beacon: beacon, wish: wish))
            self.reason = self.reason ?? reason
        }
        results[name] = result
        if attempt.isTimeOut { servers[name]?.isSilent = true }
        enqueue(lane)
        list(name)
        if result.hasAnswered { reconsider(name) }
    }
}
