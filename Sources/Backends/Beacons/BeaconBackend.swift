public import Instrument
internal import InstrumentAds
public import InstrumentHTTP

/// Sends the beacons of ads: an HTTP GET for each, in order for each playback of an ad and server.
///
/// ```swift
/// let backend = BeaconBackend(transport: try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false)))
/// let instrument = Instrument(hub: AdsHub(), backends: [backend], store: store)
/// ```
///
/// The servers of an ad are independent: a server that refuses, fails, hangs or cannot be resolved delays no beacon for
/// another server. Beacons of one ad for one server are sent in their order. A beacon that fails is retried, and the
/// later beacons of its ad for the same server wait; a beacon that still fails after its ad's `Expires`, or an hour,
/// becomes a dead letter, as does a beacon that a server refuses. A beacon for a position in the ad (quartiles,
/// `progress`, `complete`) is given up after `Beacons.longestLifetimeOfPositions`.
///
/// A server that takes no beacons rests for a growing time: up to `mostAhead` beacons for other servers that wait
/// behind its beacons are sent before them. The store keeps a receipt for each of these until its turn in the queue
/// comes, so that the next process, or a backend that replaces this one, does not send it again. The receipts of the
/// last 100 ms are not kept if the process is killed; their beacons are sent again, under the same identifiers. The
/// first beacons of an ad do not wait for the end of a rest, unless the server asked for it. A flush or a shutdown
/// tries every server once more.
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
    package static let mostAhead = 20_000
    /// The beacons that one look at the queue finds.
    private static let mostAtALook = 4_000
    /// While a server rests, the queue is looked at in this interval: beacons for other servers may have come.
    private static let look = Duration.seconds(2)
    /// While a request is under way, results are kept and the queue is looked at in this interval, or, if many beacons
    /// wait, the queue more rarely.
    private static let shortLook = Duration.milliseconds(100)
    private static let lookPerRecord = Duration.microseconds(100)
    /// How long beacons behind a batch are sent before the batch is tried again.
    private static let longestAhead = Duration.seconds(10)

    private struct Settled {
        let sequence: UInt64
        let result: BeaconResult
    }

    private struct State {
        /// The final results of beacons that the queue has not yet settled: none of these is sent again.
        var settled: [SampleID: Settled] = [:]
        /// Those of these results that the store does not keep yet.
        var unkept: [DeliveryReceipt] = []
        /// Whether the receipts that the store kept have been read.
        var hasReadReceipts = false
        var rests = BeaconRests()
        /// The servers that were tried for the present flush.
        var triedForFlush: Set<String> = []
    }

    /// A step of a delivery.
    private enum Step: Sendable {
        case attempted(Beacon, BeaconAttempt)
        /// An interval has passed: results are kept, and the queue is looked at.
        case tick
    }

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - name: the name in the queue.
    ///   - transport: sends requests.
    ///   - userAgent: the value of `User-Agent`.
    ///   - timeout: the limit for each request, redirects included.
    ///   - maxAtOnce: the number of requests at the same time, of which a server has an eighth, at least one; requests
    ///     that wait for more than a second do not count, up to four times as many.
    ///   - clock: the time, for the expiry of beacons and the rests of servers.
    ///   - random: the source of the rests' jitter.
    public init(
        name: BackendName = "beacons",
        transport: any HTTPTransport,
        userAgent: String = InstrumentVersion.userAgent(),
        timeout: Duration = .seconds(10),
        maxAtOnce: Int = 32,
        clock: any SchedulingClock = SystemClock(),
        random: RandomSource = RandomSource()
    ) {
        (self.name, self.transport, self.userAgent) = (name, transport, userAgent)
        (self.timeout, self.maxAtOnce, self.clock, self.random) = (timeout, max(1, maxAtOnce), clock, random)
    }

    package func sends(_ record: SampleRecord) -> Bool { Beacon(record) != nil }

    /// Sends the beacons of a batch. Samples that are no beacons count as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome { await deliver(batch, before: .none) }

    /// Sends the beacons of a batch, and those behind it while beacons of the batch wait for their servers.
    public func deliver(_ batch: Batch, before queued: QueuedSamples) async -> DeliveryOutcome {
        let beacons = batch.records.compactMap { Beacon($0) }
        readReceipts(queued)
        let run = await send(beacons, before: queued)
        let pause = record(run)
        // After the batch is settled, which ends the need for its receipts.
        defer { keepReceipts(queued) }
        guard areOpen(beacons) else { return settle(batch, beacons) }
        let obstacle = queued.isCurrent ? "the server rests after a failure" : "the queue's content or consent changed"
        return .retry(after: pause, reason: run.reason ?? obstacle)
    }

    /// Reads the receipts of an earlier process, or of a backend that this one replaces.
    private func readReceipts(_ queued: QueuedSamples) {
        if state.withLock({ $0.hasReadReceipts }) { return }
        let receipts = queued.receipts
        state.withLock { state in
            state.hasReadReceipts = true
            for receipt in receipts {
                let result = receipt.refusal.map { BeaconResult.refused($0) } ?? .sent
                state.settled[receipt.id] = Settled(sequence: receipt.sequence, result: result)
            }
        }
    }

    /// Has the store keep the results that only this backend knows.
    private func keepReceipts(_ queued: QueuedSamples) {
        let receipts = state.withLock { state in
            defer { state.unkept = [] }
            return state.unkept
        }
        if !receipts.isEmpty { queued.keep(receipts) }
    }

    /// Whether a beacon has no final result.
    private func areOpen(_ beacons: [Beacon]) -> Bool {
        state.withLock { state in beacons.contains { state.settled[$0.id] == nil } }
    }

    /// The outcome of a batch of which every beacon has a final result.
    private func settle(_ batch: Batch, _ beacons: [Beacon]) -> DeliveryOutcome {
        let last = batch.records.last
        let refused = state.withLock { state in
            var refused: [SampleID: String] = [:]
            for beacon in beacons { refused[beacon.id] = state.settled.removeValue(forKey: beacon.id)?.result.refusal }
            // The cursor is the receipt of these.
            let ids = Set(beacons.map(\.id))
            state.unkept.removeAll { ids.contains($0.id) }
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

    /// Sends the beacons of a batch that have no final result. Looks behind the batch while a request is under way or
    /// a beacon of the batch waits: neither may delay other servers.
    private func send(_ own: [Beacon], before queued: QueuedSamples) async -> BeaconRun {
        let begin = clock.now
        var (run, situation) = start(own, queued)
        await withTaskGroup(of: Step.self) { tasks in
            var isTicking = false
            var nextLook = begin.advanced(by: Self.shortLook)
            while true {
                if !Task.isCancelled { startRequests(&run, situation, queued, &tasks) }
                if run.underWay == 0 {
                    guard !Task.isCancelled, clock.now < begin.advanced(by: Self.longestAhead), areOpen(own) else {
                        break
                    }
                    situation = self.situation(queued, &run)
                    guard look(queued, &run, situation).found > 0 else { break }
                    continue
                }
                if !isTicking {
                    isTicking = true
                    let next = clock.now.advanced(by: Self.shortLook)
                    tasks.addTask { [clock] in
                        try? await clock.sleep(until: next, tolerance: nil)
                        return .tick
                    }
                }
                switch await tasks.next() {
                case .attempted(let beacon, let attempt): finish(beacon, attempt, &run)
                case .tick:
                    isTicking = false
                    keepReceipts(queued)
                    if clock.now < nextLook { continue }
                    situation = self.situation(queued, &run)
                    // After the limit, only what hangs keeps the delivery open, for servers that answer and for those
                    // of the batch that were not tried yet.
                    situation.isDraining = clock.now >= begin.advanced(by: Self.longestAhead)
                    run.reconsider()
                    nextLook = clock.now.advanced(by: Self.shortLook)
                    if situation.isDraining, !run.isWaiting(at: clock.now) { continue }
                    let seen = look(queued, &run, situation).seen
                    nextLook = clock.now.advanced(by: min(Self.look, max(Self.shortLook, Self.lookPerRecord * seen)))
                case nil: return
                }
                situation.now = clock.now
                situation.wallTime = clock.wallTime
            }
            tasks.cancelAll()
        }
        return run
    }

    /// The run of a delivery, with the beacons of the batch.
    private func start(_ own: [Beacon], _ queued: QueuedSamples) -> (BeaconRun, BeaconRun.Situation) {
        let (settled, tried) = state.withLock { ($0.settled, $0.triedForFlush) }
        var run = BeaconRun(maxAtOnce: maxAtOnce, triedForFlush: tried)
        let situation = situation(queued, &run)
        for beacon in own where settled[beacon.id] == nil { run.add(beacon, situation) }
        return (run, situation)
    }

    private func situation(_ queued: QueuedSamples, _ run: inout BeaconRun) -> BeaconRun.Situation {
        let isFlushing = queued.isFlushing
        if !isFlushing { run.triedForFlush = [] }
        let rests = state.withLock { $0.rests }
        return BeaconRun.Situation(now: clock.now, wallTime: clock.wallTime, rests: rests, isFlushing: isFlushing)
    }

    private func startRequests(
        _ run: inout BeaconRun,
        _ situation: BeaconRun.Situation,
        _ queued: QueuedSamples,
        _ tasks: inout TaskGroup<Step>
    ) {
        // Beacons that were read before an erasure or a denial are not sent any more.
        while queued.isCurrent, let beacon = run.next(situation) {
            if run.isSilent(beacon) {
                // Its time is over: another attempt would only wait as long as the last one.
                let reason = "given up after its expiry: the server did not answer another beacon in time"
                finish(beacon, BeaconAttempt(result: .givenUp(reason)), &run)
                continue
            }
            tasks.addTask {
                var attempt = await self.send(beacon)
                if !Task.isCancelled, beacon.isExpired(at: self.clock.wallTime) {
                    attempt.result = attempt.result.afterExpiry
                }
                return .attempted(beacon, attempt)
            }
        }
    }

    private func finish(_ beacon: Beacon, _ attempt: BeaconAttempt, _ run: inout BeaconRun) {
        run.finish(beacon, attempt)
        guard attempt.result.isFinal else { return }
        let (id, sequence, result) = (beacon.id, beacon.sequence, attempt.result)
        state.withLock { state in
            state.settled[id] = Settled(sequence: sequence, result: result)
            state.unkept.append(DeliveryReceipt(id: id, sequence: sequence, refusal: result.refusal))
        }
    }

    /// Adds the beacons behind the batch that can be sent now; returns how many it found, and how many samples it saw.
    private func look(
        _ queued: QueuedSamples,
        _ run: inout BeaconRun,
        _ situation: BeaconRun.Situation
    ) -> (found: Int, seen: Int) {
        var (found, seen) = (0, 0)
        queued.read { records in
            state.withLock { state in
                for record in records {
                    seen += 1
                    guard let beacon = Beacon(record), state.settled[beacon.id] == nil,
                        run.addAhead(beacon, situation)
                    else { continue }
                    found += 1
                    if found >= Self.mostAtALook || state.settled.count + found >= Self.mostAhead { return false }
                }
                return state.settled.count < Self.mostAhead
            }
        }
        return (found, seen)
    }

    /// Lets rest what failed; returns the time up to the next delivery.
    private func record(_ run: BeaconRun) -> Duration? {
        // A delivery that is cancelled says nothing about servers.
        if Task.isCancelled { return nil }
        let now = clock.now
        return state.withLock { state in
            state.triedForFlush = run.triedForFlush
            state.rests.record(run, at: now, clock.wallTime, random)
            return min(Self.look, state.rests.next(after: now) ?? Self.look)
        }
    }

    private func send(_ beacon: Beacon) async -> BeaconAttempt {
        do throws(HTTPError) {
            var headers = HTTPHeaders()
            try headers.set("User-Agent", userAgent)
            try headers.set("X-Beacon-ID", beacon.id.description)
            let request = HTTPRequest(
                .get,
                try beacon.url.resolved(),
                headers: headers,
                timeout: timeout,
                maxResponseBytes: 64 << 10,
                redirects: .follow(atMost: 5)
            )
            let response = try await transport.send(request)
            let rules = DeliveryRules.addressOfEachSample
            let outcome = DeliveryOutcome(response, to: request, now: clock.wallTime, rules: rules)
            return BeaconAttempt(result: BeaconResult(outcome))
        } catch {
            switch error.code {
            case .invalidURL:
                return BeaconAttempt(result: .refused("`adBeaconUrl` must be an http or https address"))
            case .addressRefused, .invalidHeader, .redirectRefused:
                return BeaconAttempt(result: .refused(error.description))
            default:
                return BeaconAttempt(
                    result: BeaconResult(DeliveryOutcome(error)),
                    isTimeOut: error.code == .timedOut
                )
            }
        }
    }
}
