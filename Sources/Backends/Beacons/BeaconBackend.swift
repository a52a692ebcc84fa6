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
/// Beacons of different ads are sent at the same time. A beacon that fails is retried, and the later beacons of its ad
/// wait; a beacon that still fails after its ad's `Expires`, or an hour, becomes a dead letter, as does a beacon that a
/// server refuses. While a server does not answer, the other beacons of its batch are sent, and later batches wait
/// until its beacons are given up: the queue keeps one order.
///
/// Every request carries `X-Beacon-ID` with the sample's identifier: a beacon that is sent twice, because the process
/// ended before the answer came, is recognisable as a copy. Addresses come from ad servers: give the backend a
/// transport that refuses private addresses, unless every ad server is trusted.
public final class BeaconBackend: Backend {
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
    /// The results of the current batch that are final: a batch that is retried sends none of these beacons again.
    private let settled = Lock<[SampleID: BeaconResult]>([:])

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - name: the name in the queue.
    ///   - transport: sends requests.
    ///   - userAgent: the value of `User-Agent`.
    ///   - timeout: the limit for each request, redirects included.
    ///   - maxAtOnce: the number of ads whose beacons are sent at the same time.
    ///   - clock: the calendar time, for the expiry of beacons.
    public init(
        name: BackendName = "beacons",
        transport: any HTTPTransport,
        userAgent: String = "Instrument",
        timeout: Duration = .seconds(10),
        maxAtOnce: Int = 8,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.name, self.transport, self.userAgent) = (name, transport, userAgent)
        (self.timeout, self.maxAtOnce, self.clock) = (timeout, max(1, maxAtOnce), clock)
    }

    /// Sends the beacons of a batch. Samples that are no beacons count as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let beacons = batch.records.compactMap { Beacon($0) }
        let known = settled.withLock { settled in
            // Only the current batch is remembered.
            let identifiers = Set(beacons.map(\.id))
            settled = settled.filter { identifiers.contains($0.key) }
            return settled
        }
        let results = await send(beacons.filter { known[$0.id] == nil }, SilentServers())
        let all = known.merging(results) { _, new in new }
        let waiting = beacons.lazy.compactMap { beacon -> (after: Duration?, reason: String)? in
            switch all[beacon.id] {
            case .waiting(let delay, let reason): (delay, reason)
            case nil: (nil, "an earlier beacon of the ad waits")
            default: nil
            }
        }.first
        if let waiting {
            settled.withLock { $0 = all.filter { $0.value.isFinal } }
            return .retry(after: waiting.after, reason: waiting.reason)
        }
        settled.withLock { $0 = [:] }
        var refused: [SampleID: String] = [:]
        for (id, result) in all { if case .refused(let reason) = result { refused[id] = reason } }
        return refused.isEmpty ? .acknowledged : .acknowledgedExcept(refused)
    }

    /// Sends beacons, each playback's in order, several playbacks at a time.
    private func send(_ beacons: [Beacon], _ silent: SilentServers) async -> [SampleID: BeaconResult] {
        var (order, groups) = ([String](), [String: [Beacon]]())
        for beacon in beacons {
            if groups[beacon.group] == nil { order.append(beacon.group) }
            groups[beacon.group, default: []].append(beacon)
        }
        return await withTaskGroup(of: [SampleID: BeaconResult].self) { tasks in
            var (results, rest) = ([SampleID: BeaconResult](), order[...])
            for name in rest.prefix(maxAtOnce) {
                tasks.addTask { [groups] in await self.sendInOrder(groups[name] ?? [], silent) }
            }
            rest = rest.dropFirst(maxAtOnce)
            while let found = await tasks.next() {
                results.merge(found) { _, new in new }
                if let name = rest.popFirst() {
                    tasks.addTask { [groups] in await self.sendInOrder(groups[name] ?? [], silent) }
                }
            }
            return results
        }
    }

    /// Sends the beacons of one playback up to the first that has to wait.
    private func sendInOrder(_ beacons: [Beacon], _ silent: SilentServers) async -> [SampleID: BeaconResult] {
        var results: [SampleID: BeaconResult] = [:]
        for beacon in beacons {
            var result = await send(beacon, silent)
            if !Task.isCancelled, isExpired(beacon) { result = result.givenUp }
            results[beacon.id] = result
            if !result.isFinal { break }
        }
        return results
    }

    private func isExpired(_ beacon: Beacon) -> Bool { clock.wallTime.milliseconds >= beacon.expiry.milliseconds }

    private func send(_ beacon: Beacon, _ silent: SilentServers) async -> BeaconResult {
        var server: String?
        do throws(HTTPError) {
            let url = try beacon.url.resolved()
            server = url.origin
            // A beacon is given up only after its own attempt.
            if silent.contains(url.origin), !isExpired(beacon) {
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
            return BeaconResult(DeliveryOutcome(response, to: request, now: clock.wallTime))
        } catch {
            switch error.code {
            case .invalidURL: return .refused("`adBeaconUrl` must be an http or https address")
            case .addressRefused, .invalidHeader: return .refused(error.description)
            case .timedOut:
                if let server { silent.insert(server) }
                return BeaconResult(DeliveryOutcome(error))
            default: return BeaconResult(DeliveryOutcome(error))
            }
        }
    }
}

extension BeaconResult {
    /// Whether the beacon is not sent again.
    fileprivate var isFinal: Bool { if case .waiting = self { false } else { true } }
}

/// The servers that let a request of the present delivery run out of time: a batch for a server that hangs costs one
/// time-out for each of the requests at the same time, and not one for each beacon.
private final class SilentServers: Sendable {
    private let origins = Lock<Set<String>>([])

    func contains(_ origin: String) -> Bool { origins.withLock { $0.contains(origin) } }
    func insert(_ origin: String) { origins.withLock { _ = $0.insert(origin) } }
}
