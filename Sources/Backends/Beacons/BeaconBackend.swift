public import Instrument
internal import InstrumentAds
public import InstrumentHTTP

/// Sends the beacons of ads: an HTTP GET for each, in order for each playback of an ad.
///
/// ```swift
/// let backend = BeaconBackend(transport: try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false)))
/// let instrument = Instrument(hub: AdsHub(), backends: [backend], store: store)
/// ```
///
/// Beacons of different ads are sent at the same time, those of one ad in their order. A beacon that fails is retried,
/// and the later beacons of its ad wait; a beacon that still fails after its ad's `Expires`, or an hour, becomes a dead
/// letter, as does a beacon that a server refuses.
///
/// A server that takes no beacons rests for a growing time, and delays no other ad: up to ``mostAhead`` beacons of
/// other ads, for other servers, that wait behind its beacons are sent before them. The backend remembers these until
/// their turn in the queue comes; a process that is killed in between sends them again, under the same identifiers.
///
/// Every request carries `X-Beacon-ID` with the sample's identifier: a beacon that is sent twice, because the process
/// ended before the answer came, is recognisable as a copy. Addresses come from ad servers: give the backend a
/// transport that refuses private addresses, unless every ad server is trusted.
public final class BeaconBackend: SelectiveBackend {
    /// The name under which the queue keeps this backend's place.
    public let name: BackendName
    /// Batches of 200 beacons without delay; a delivery may take two minutes.
    public let policy = DeliveryPolicy(maxCount: 200, maxAge: .zero, timeout: .seconds(120), dueCount: 1)
    /// `beacons`: the backend receives no sample that is for another service.
    public var service: ServiceName? { .beacons }

    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let userAgent: String
    private let timeout: Duration
    private let maxAtOnce: Int
    private let random: RandomSource
    private let state = Lock(State())

    /// The largest number of beacons that are sent ahead of beacons that wait for their server.
    public static let mostAhead = 20_000
    /// The beacons that one look at the queue finds.
    private static let mostAtALook = 4_000
    /// While a server rests, the queue is looked at in this interval: beacons for other servers may have come.
    private static let look = Duration.seconds(2)
    /// How long beacons behind a batch are sent before the batch is tried again.
    private static let longestAhead = Duration.seconds(10)

    private struct Settled {
        let sequence: UInt64
        let result: BeaconResult
    }

    private struct State {
        /// The final results of beacons that the queue has not yet settled: none of these is sent again.
        var settled: [SampleID: Settled] = [:]
        var rests = ServerRests()
    }

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - name: the name in the queue.
    ///   - transport: sends requests.
    ///   - userAgent: the value of `User-Agent`.
    ///   - timeout: the limit for each request, redirects included.
    ///   - maxAtOnce: the number of ads whose beacons are sent at the same time.
    ///   - clock: the time, for the expiry of beacons and the rests of servers.
    ///   - random: the source of the rests' jitter.
    public init(
        name: BackendName = "beacons",
        transport: any HTTPTransport,
        userAgent: String = InstrumentVersion.userAgent(),
        timeout: Duration = .seconds(10),
        maxAtOnce: Int = 8,
        clock: any SchedulingClock = SystemClock(),
        random: RandomSource = RandomSource()
    ) {
        (self.name, self.transport, self.userAgent) = (name, transport, userAgent)
        (self.timeout, self.maxAtOnce, self.clock, self.random) = (timeout, max(1, maxAtOnce), clock, random)
    }

    package func sends(_ record: SampleRecord) -> Bool { Beacon(record) != nil }

    /// Sends the beacons of a batch. Samples that are no beacons count as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome { await deliver(batch, before: .none) }

    /// Sends the beacons of a batch, and those behind it if beacons of the batch wait for a server that takes none.
    public func deliver(_ batch: Batch, before queued: QueuedSamples) async -> DeliveryOutcome {
        let beacons = batch.records.compactMap { Beacon($0) }
        var delays = BeaconDelays()
        await send(beacons, &delays)
        guard let reason = delays.reason else {
            _ = rest(delays)
            return settle(batch, beacons)
        }
        await sendAhead(queued, &delays)
        return .retry(after: rest(delays), reason: reason)
    }

    /// The outcome of a batch of which every beacon has a final result.
    private func settle(_ batch: Batch, _ beacons: [Beacon]) -> DeliveryOutcome {
        let last = batch.records.last
        let refused = state.withLock { state in
            var refused: [SampleID: String] = [:]
            for beacon in beacons {
                let result = state.settled.removeValue(forKey: beacon.id)?.result
                if case .refused(let reason)? = result { refused[beacon.id] = reason }
            }
            // Beacons that the queue has erased never come.
            if let last {
                state.settled = state.settled.filter { id, settled in
                    id.log != last.id.log || settled.sequence > last.sequence
                }
            }
            return refused
        }
        return refused.isEmpty ? .acknowledged : .acknowledgedExcept(refused)
    }

    /// Sends the beacons that have no final result and need not wait, and records why the others wait.
    private func send(_ beacons: [Beacon], _ delays: inout BeaconDelays) async {
        let due = due(of: beacons, &delays)
        let silent = SilentServers()
        let pass = BeaconPass(maxAtOnce: maxAtOnce) { beacon in
            let result = await self.send(beacon, silent)
            return !Task.isCancelled && self.isExpired(beacon) ? result.givenUp : result
        }
        let results = await pass.run(due)
        for beacon in due {
            switch results[beacon.id] {
            case .waiting(let wish, let reason):
                delays.delay(beacon, reason)
                delays.fail(beacon.server, after: wish)
            case .sent, .refused: delays.answered.insert(beacon.server)
            case nil: delays.delay(beacon, nil)
            }
        }
        state.withLock { state in
            for beacon in due {
                guard let result = results[beacon.id], result.isFinal else { continue }
                state.settled[beacon.id] = Settled(sequence: beacon.sequence, result: result)
            }
        }
    }

    /// The beacons to send now, in their order.
    private func due(of beacons: [Beacon], _ delays: inout BeaconDelays) -> [Beacon] {
        let (settled, rests) = state.withLock { ($0.settled, $0.rests) }
        var due: [Beacon] = []
        let now = clock.now
        for beacon in beacons where settled[beacon.id] == nil {
            // A beacon must not overtake one that waits, and is given up only after its own attempt.
            if delays.delays(beacon) {
                delays.delay(beacon, nil)
            } else if rests.isResting(beacon.server, at: now), !isExpired(beacon) {
                delays.delay(beacon, "the server rests after a failure")
            } else {
                due.append(beacon)
            }
        }
        return due
    }

    /// Sends the beacons behind the batch whose servers take beacons.
    private func sendAhead(_ queued: QueuedSamples, _ delays: inout BeaconDelays) async {
        let end = clock.now.advanced(by: Self.longestAhead)
        while !Task.isCancelled, clock.now < end {
            let beacons = ahead(queued, delays)
            if beacons.isEmpty { return }
            await send(beacons, &delays)
        }
    }

    /// The next beacons behind the batch that need not wait for an earlier one.
    private func ahead(_ queued: QueuedSamples, _ delays: BeaconDelays) -> [Beacon] {
        var found: [Beacon] = []
        let now = clock.now
        queued.read { records in
            state.withLock { state in
                for beacon in records.lazy.compactMap({ Beacon($0) }) where state.settled[beacon.id] == nil {
                    guard !delays.delays(beacon), !delays.servers.contains(beacon.server),
                        !state.rests.isResting(beacon.server, at: now)
                    else { continue }
                    found.append(beacon)
                    if found.count >= Self.mostAtALook || state.settled.count + found.count >= Self.mostAhead {
                        return false
                    }
                }
                return state.settled.count < Self.mostAhead
            }
        }
        return found
    }

    /// Lets the servers rest that took no beacons; returns the time up to the next delivery.
    private func rest(_ delays: BeaconDelays) -> Duration? {
        // A delivery that is cancelled says nothing about servers.
        if Task.isCancelled { return nil }
        let now = clock.now
        return state.withLock { state in
            for server in delays.answered.subtracting(delays.servers) { state.rests.answered(server) }
            for (server, wish) in delays.failures { state.rests.failed(server, wish: wish, at: now, random) }
            state.rests.forgetEnded(at: now)
            return min(Self.look, state.rests.next(after: now) ?? Self.look)
        }
    }

    private func isExpired(_ beacon: Beacon) -> Bool { clock.wallTime.milliseconds >= beacon.expiry.milliseconds }

    private func send(_ beacon: Beacon, _ silent: SilentServers) async -> BeaconResult {
        do throws(HTTPError) {
            let url = try beacon.url.resolved()
            if silent.contains(beacon.server), !isExpired(beacon) {
                return .waiting(after: nil, "the server did not answer another beacon in time")
            }
            var headers = HTTPHeaders()
            try headers.set("User-Agent", userAgent)
            try headers.set("X-Beacon-ID", beacon.id.description)
            let request = HTTPRequest(
                .get,
                url,
                headers: headers,
                timeout: timeout,
                maxResponseBytes: 64 << 10,
                redirects: .follow(atMost: 5)
            )
            let response = try await transport.send(request)
            let rules = DeliveryRules.addressOfEachSample
            return BeaconResult(DeliveryOutcome(response, to: request, now: clock.wallTime, rules: rules))
        } catch {
            switch error.code {
            case .invalidURL: return .refused("`adBeaconUrl` must be an http or https address")
            case .addressRefused, .invalidHeader, .redirectRefused: return .refused(error.description)
            case .timedOut:
                silent.insert(beacon.server)
                return BeaconResult(DeliveryOutcome(error))
            default: return BeaconResult(DeliveryOutcome(error))
            }
        }
    }
}

/// Which beacons of a delivery wait, and why.
private struct BeaconDelays {
    /// The servers for which a beacon waits.
    private(set) var servers: Set<String> = []
    /// The servers that an attempt has found not to take beacons, with the longest delay that they asked for.
    private(set) var failures: [String: Duration?] = [:]
    /// The servers that took a beacon.
    var answered: Set<String> = []
    /// The first reason.
    private(set) var reason: String?
    private var lanes: Set<Beacon.Lane> = []

    /// Whether a beacon stands behind one that waits.
    func delays(_ beacon: Beacon) -> Bool { lanes.contains(beacon.lane) }

    /// - Parameter reason: why an attempt failed; nil for a beacon behind another.
    mutating func delay(_ beacon: Beacon, _ reason: String?) {
        if reason != nil { servers.insert(beacon.server) }
        lanes.insert(beacon.lane)
        self.reason = self.reason ?? reason ?? "an earlier beacon of the ad waits"
    }

    /// Records that a server took no beacon at an attempt.
    mutating func fail(_ server: String, after wish: Duration?) {
        failures.updateValue([failures[server] ?? nil, wish].compactMap(\.self).max(), forKey: server)
    }
}

/// The servers that let a request of the present delivery run out of time: a batch for a server that hangs costs one
/// time-out for each of the requests at the same time, and not one for each beacon.
private final class SilentServers: Sendable {
    private let origins = Lock<Set<String>>([])

    func contains(_ origin: String) -> Bool { origins.withLock { $0.contains(origin) } }
    func insert(_ origin: String) { origins.withLock { _ = $0.insert(origin) } }
}
