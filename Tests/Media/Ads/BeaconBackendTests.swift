import Instrument
import InstrumentHTTP
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentAds
@testable import InstrumentBeacons

/// Answers beacons as a script says, and records those that it took.
private final class ScriptedBeaconServer: HTTPTransport {
    private struct State {
        var script: [String: [Int]] = [:]
        var taken: [HTTPRequest] = []
        var attempts: [String] = []
    }

    private let state = Lock(State())

    init(_ script: [String: [Int]] = [:]) { state.withLock { $0.script = script } }

    var taken: [String] { state.withLock { $0.taken.map(\.url.secretText) } }
    var attempts: [String] { state.withLock { $0.attempts } }
    var identifiers: [SampleID] {
        state.withLock { $0.taken.compactMap { $0.headers["X-Beacon-ID"].flatMap { SampleID($0) } } }
    }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if Task.isCancelled { throw HTTPError(.cancelled, "cancelled") }
        let status = state.withLock { state in
            let path = request.url.path
            state.attempts.append(path)
            var answers = state.script[path] ?? []
            let status = answers.isEmpty ? 204 : answers.removeFirst()
            state.script[path] = answers
            if 200..<300 ~= status { state.taken.append(request) }
            return status
        }
        if status == 0 { throw HTTPError(.connection, "reset", url: request.url) }
        return HTTPResponse(status: status, body: Array("no such beacon".utf8), url: request.url)
    }
}

/// Answers every server but one, which lets requests run out of time.
private final class HangingBeaconServer: HTTPTransport {
    private let requests = Lock<[String: Int]>([:])

    func count(of origin: String) -> Int { requests.withLock { $0[origin] ?? 0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        requests.withLock { $0[request.url.origin, default: 0] += 1 }
        if request.url.host == "hangs.test" { throw HTTPError(.timedOut, "no answer", url: request.url) }
        return HTTPResponse(status: 204, url: request.url)
    }
}

/// Takes the beacons of every server but `dead.test`, which fails until it is revived.
private final class PartlyDeadServer: HTTPTransport {
    private struct State {
        var isDead = true
        var taken: [(host: String, path: String)] = []
        var attempts: [String: Int] = [:]
    }

    private let state = Lock(State())
    private let retryAfter: Int?

    init(retryAfter: Int? = nil) { self.retryAfter = retryAfter }

    func revive() { state.withLock { $0.isDead = false } }
    func taken(by host: String) -> [String] { state.withLock { $0.taken.filter { $0.host == host }.map(\.path) } }
    func attempts(at host: String) -> Int { state.withLock { $0.attempts[host] ?? 0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let isTaken = state.withLock { state in
            state.attempts[request.url.host, default: 0] += 1
            if state.isDead, request.url.host == "dead.test" { return false }
            state.taken.append((request.url.host, request.url.path))
            return true
        }
        if isTaken { return HTTPResponse(status: 204, url: request.url) }
        guard let retryAfter else { throw HTTPError(.timedOut, "no answer", url: request.url) }
        var headers = HTTPHeaders()
        try headers.set("Retry-After", String(retryAfter))
        return HTTPResponse(status: 503, headers: headers, url: request.url)
    }
}

/// Answers `alive.test` at once, and the other servers once it is released, with a failure.
private final class StuckServer: HTTPTransport {
    let released = Gate()
    private let state = Lock((paths: [String: [String]](), gates: [String: Gate]()))

    func paths(at host: String) -> [String] { state.withLock { $0.paths[host] ?? [] } }

    func arrived(_ path: String) -> Gate {
        state.withLock { state in
            let gate = state.gates[path] ?? Gate()
            state.gates[path] = gate
            return gate
        }
    }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        arrived(request.url.path).open()
        state.withLock { $0.paths[request.url.host, default: []].append(request.url.path) }
        if request.url.host == "alive.test" { return HTTPResponse(status: 204, url: request.url) }
        await released.wait()
        throw HTTPError(.timedOut, "no answer", url: request.url)
    }
}

@Suite("Beacons")
struct BeaconBackendTests {
    private func record(
        _ number: UInt64,
        _ path: String,
        group: String,
        expiry: Int64 = .max,
        host: String = "t.test",
        at time: WallTime = WallTime(milliseconds: 0)
    ) -> SampleRecord {
        var event = Event(
            .adBeacon,
            tracker: TrackerID(0),
            time: Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: time)
        )
        event[.adBeaconUrl] = "https://" + host + path
        event[.adBeaconGroup] = group
        event[.adBeaconExpiry] = Int(expiry)
        return SampleRecord(id: SampleID(log: 7, sequence: number), sequence: number, sample: .event(event))
    }

    private func backend(_ server: ScriptedBeaconServer, clock: VirtualClock = VirtualClock()) -> BeaconBackend {
        BeaconBackend(transport: server, clock: clock)
    }

    @Test("The backend keeps the contract of backends")
    func contract() async throws {
        let server = ScriptedBeaconServer()
        try await BackendContract.check(
            samples: { generator in
                var event = Event(.adBeacon, tracker: TrackerID(0), time: RandomSamples.sample(&generator).time)
                event[.adBeaconUrl] = "https://t.test/b?\(generator.next())"
                event[.adBeaconGroup] = "one"
                return .event(event)
            },
            { BeaconBackend(transport: server) },
            arrived: { server.identifiers }
        )
    }

    @Test("Samples that are no beacons count as delivered")
    func otherSamples() async throws {
        let server = ScriptedBeaconServer()
        try await BackendContract.check { BeaconBackend(transport: server) }
        #expect(server.taken.isEmpty)
    }

    @Test("A beacon that fails delays the beacons of its ad, and nothing is sent twice")
    func orderPerAd() async {
        let server = ScriptedBeaconServer(["/a1": [503]])
        let clock = VirtualClock()
        let backend = backend(server, clock: clock)
        let batch = Batch(records: [
            record(0, "/a0", group: "a"), record(1, "/b0", group: "b"), record(2, "/a1", group: "a"),
            record(3, "/b1", group: "b"),
            record(4, "/a2", group: "a"),
        ])
        guard case .retry = await backend.deliver(batch) else {
            Issue.record("the delivery must be retried")
            return
        }
        #expect(Set(server.attempts) == ["/a0", "/b0", "/a1", "/b1"])
        clock.advance(by: .seconds(1))
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(server.attempts.count == 6)
        #expect(server.attempts.suffix(2) == ["/a1", "/a2"])
        #expect(server.taken.count == 5)
    }

    @Test("A refused beacon becomes a dead letter alone, and the server's pause is kept")
    func refusals() async {
        let server = ScriptedBeaconServer(["/404": [404], "/410": [410], "/401": [401]])
        let records = [
            record(0, "/404", group: "a"), record(1, "/ok", group: "a"), record(2, "/410", group: "a"),
            record(3, "/401", group: "a"),
        ]
        let outcome = await backend(server).deliver(Batch(records: records))
        guard case .acknowledgedExcept(let reasons) = outcome else {
            Issue.record("three beacons must be refused (found \(outcome))")
            return
        }
        #expect(Set(reasons.keys) == [records[0].id, records[2].id, records[3].id])
        // The server's own words.
        #expect(reasons[records[0].id] == "HTTP 404: no such beacon")
        #expect(server.taken == ["https://t.test/ok"])
    }

    @Test("A beacon that fails is given up after its expiry, and the next ones are sent")
    func expiry() async {
        let clock = VirtualClock()
        let server = ScriptedBeaconServer(["/down": [0, 500, 500]])
        let backend = backend(server, clock: clock)
        let expiry = clock.wallTime.milliseconds + 60_000
        let records = [record(0, "/down", group: "a", expiry: expiry), record(1, "/next", group: "a", expiry: expiry)]
        guard case .retry(_, let reason) = await backend.deliver(Batch(records: records)) else {
            Issue.record("the delivery must be retried")
            return
        }
        #expect(!reason.isEmpty)
        clock.advance(by: .seconds(60))
        let outcome = await backend.deliver(Batch(records: records))
        guard case .acknowledgedExcept(let reasons) = outcome else {
            Issue.record("one beacon must be given up (found \(outcome))")
            return
        }
        #expect(reasons.count == 1)
        #expect(reasons[records[0].id]?.contains("given up") == true)
        #expect(server.taken == ["https://t.test/next"])
    }

    @Test("Reasons carry no query of an address")
    func secrets() async {
        let server = ScriptedBeaconServer(["/x": [0]])
        let outcome = await backend(server).deliver(
            Batch(records: [record(0, "/x?token=secret", group: "a"), record(1, "ht!tp?secret", group: "b")])
        )
        #expect(!"\(outcome)".contains("secret"))
    }

    @Test("Beacons pass the queue in order, with macros filled in at the time of the event")
    func queue() async throws {
        let server = ScriptedBeaconServer()
        let queue = BatchQueue(backends: [BeaconBackend(transport: server)])
        let beacons = Beacons(
            queue: queue,
            macros: MacroValues(["CONTENTID": .text("film 7"), "IFA": .text("person-1")])
        )
        let urls = (0..<20).map { AdURL("https://t.test/\($0)?c=[CONTENTID]&p=[ADPLAYHEAD]&i=[IFA]") }
        let result = beacons.send(
            urls.map { AdBeacon(kind: .event(.progress), url: $0, playhead: 1_500_000_000) },
            of: "one"
        )
        #expect(result == .stored)
        #expect(await queue.flush(timeout: .seconds(300)))
        let expected = (0..<20).map { "https://t.test/\($0)?c=film%207&p=00%3A00%3A01.500&i=-2" }
        #expect(server.taken == expected)
    }

    @Test("Without consent no beacon is kept or sent; pending beacons are sent once consent is granted")
    func consent() async throws {
        let server = ScriptedBeaconServer()
        let queue = BatchQueue(backends: [BeaconBackend(transport: server)], consent: .denied)
        let beacons = Beacons(queue: queue)
        let beacon = AdBeacon(kind: .impression, url: AdURL("https://t.test/i"), playhead: 0)
        #expect(beacons.send([beacon], of: "one") == .notCollected)
        try queue.set(consent: .pending)
        #expect(beacons.send([beacon], of: "one") == .stored)
        #expect(server.attempts.isEmpty)
        try queue.set(consent: .granted)
        #expect(await queue.flush(timeout: .seconds(300)))
        #expect(server.taken == ["https://t.test/i"])
    }

    @Test("A field rule for the address keeps the beacon from being sent")
    func fieldRules() async throws {
        let server = ScriptedBeaconServer()
        let privacy = PrivacyRules(fields: ["adBeaconUrl": .mask()])
        let queue = BatchQueue(backends: [BeaconBackend(transport: server)], privacy: privacy)
        Beacons(queue: queue, privacy: privacy).send(
            [AdBeacon(kind: .impression, url: AdURL("https://t.test/i"), playhead: 0)],
            of: "one"
        )
        #expect(await queue.flush(timeout: .seconds(300)))
        #expect(server.attempts.isEmpty)
    }

    @Test("An address without a scheme is called over https")
    func withoutScheme() async throws {
        let server = ScriptedBeaconServer()
        let queue = BatchQueue(backends: [backend(server)])
        Beacons(queue: queue).send(
            [AdBeacon(kind: .impression, url: AdURL("//t.test/i?[CACHEBUSTING]"), playhead: 0)],
            of: "one"
        )
        #expect(await queue.flush(timeout: .seconds(300)))
        #expect(server.taken.map { $0.prefix(17) } == ["https://t.test/i?"])
    }

    @Test("A beacon that fails is given up after a day, however long the ad says that it is valid")
    func longestLifetime() async throws {
        let response = try VASTResponse(parsing: VAST.document(VAST.inLine(extra: "<Expires>999999999</Expires>")))
        let ad = ResolvedAd(ad: try #require(response.ads.first), wrappers: [], version: response.version)
        #expect(ad.ad.inLine?.expires == 999_999_999)
        let collecting = CollectingBackend()
        let queue = BatchQueue(backends: [collecting])
        Beacons(queue: queue).send(
            [AdBeacon(kind: .impression, url: AdURL("https://t.test/i"), playhead: 0)],
            of: "one",
            ad: ad
        )
        #expect(await queue.flush(timeout: .seconds(300)))
        let event = try #require(
            collecting.samples.compactMap { if case .event(let event) = $0 { event } else { nil } }.first
        )
        let lifetime = Int64(try #require(event[.adBeaconExpiry])) - event.time.wallTime.milliseconds
        #expect(lifetime == 86_400_000)
    }

    @Test("A server that hangs costs a few time-outs in each delivery, and the beacons for other servers are sent")
    func hangingServer() async throws {
        let server = HangingBeaconServer()
        let backend = BeaconBackend(transport: server, maxAtOnce: 4)
        let records = (0..<100).map { number in
            record(number, "/\(number)", group: "g\(number)", host: number % 2 == 0 ? "hangs.test" : "t.test")
        }
        let batch = Batch(records: records)
        guard case .retry = await backend.deliver(batch) else {
            Issue.record("the batch must be retried")
            return
        }
        #expect(server.count(of: "https://t.test") == 50)
        #expect((1...4).contains(server.count(of: "https://hangs.test")))
        // The second delivery repeats no beacon that arrived.
        _ = await backend.deliver(batch)
        #expect(server.count(of: "https://t.test") == 50)
    }

    @Test("A server that takes no beacons delays no beacon of another ad for another server", .ownThread)
    func deadServer() async throws {
        let clock = VirtualClock()
        let server = PartlyDeadServer()
        let backend = BeaconBackend(transport: server, clock: clock)
        let queue = BatchQueue(backends: [backend], clock: clock)
        let beacons = Beacons(queue: queue, clock: clock)
        func send(_ host: String, _ range: Range<Int>) {
            for number in range {
                let url = AdURL("https://\(host)/\(number % 7)/\(number)")
                beacons.send([AdBeacon(kind: .impression, url: url, playhead: 0)], of: "\(host) \(number % 7)")
            }
        }
        // More than a batch for the dead server comes first.
        send("dead.test", 0..<500)
        send("alive.test", 0..<500)
        await queue.waitUntilIdle()
        // Deliveries that began before all beacons were queued look again after two seconds.
        clock.advance(by: .seconds(2))
        await queue.waitUntilIdle()
        #expect(server.taken(by: "alive.test").count == 500)
        let attempts = server.attempts(at: "dead.test")
        #expect(attempts <= 16)
        send("alive.test", 500..<700)
        clock.advance(by: .seconds(2))
        await queue.waitUntilIdle()
        #expect(server.taken(by: "alive.test").count == 700)
        // The dead server is left alone for longer and longer.
        for _ in 0..<180 {
            clock.advance(by: .seconds(10))
            await queue.waitUntilIdle()
        }
        #expect(server.attempts(at: "dead.test") - attempts < 400)
        server.revive()
        // A flush would wait for the end of the pause, and nobody would advance the clock.
        for _ in 0..<10 where queue.ledger["beacons"]?.queued != 0 {
            clock.advance(by: .seconds(300))
            await queue.waitUntilIdle()
        }
        for host in ["dead.test", "alive.test"] {
            let taken = server.taken(by: host)
            #expect(taken.count == (host == "dead.test" ? 500 : 700) && Set(taken).count == taken.count)
            // Each ad's beacons come in their order.
            let byAd = Dictionary(grouping: taken) { $0.split(separator: "/")[0] }
            for numbers in byAd.values.map({ $0.compactMap { Int($0.split(separator: "/")[1]) } }) {
                #expect(numbers == numbers.sorted())
            }
        }
        #expect(queue.ledger["beacons"]?.queued == 0)
        #expect(queue.deadLetters(of: "beacons").isEmpty)
    }

    @Test("A server's wish for a pause delays no other ad")
    func pauseOfOneServer() async {
        let clock = VirtualClock()
        let server = PartlyDeadServer(retryAfter: 3_600)
        let backend = BeaconBackend(transport: server, clock: clock)
        let batch = Batch(records: [
            record(0, "/0/0", group: "a", host: "dead.test"), record(1, "/0/1", group: "a", host: "alive.test"),
            record(2, "/1/0", group: "b", host: "alive.test"),
        ])
        guard case .retry(let pause?, _) = await backend.deliver(batch) else {
            Issue.record("the batch must be retried")
            return
        }
        #expect(pause <= .seconds(2))
        clock.advance(by: .seconds(1_800))
        _ = await backend.deliver(batch)
        // Neither another ad nor another server of the same ad waits.
        #expect(server.attempts(at: "dead.test") == 1)
        #expect(Set(server.taken(by: "alive.test")) == ["/0/1", "/1/0"])
    }

    @Test("Expired beacons for a server that hangs are given up together: one time-out speaks for all")
    func hangingServerExpired() async throws {
        let server = HangingBeaconServer()
        let backend = BeaconBackend(transport: server, maxAtOnce: 1, clock: VirtualClock())
        let records = (0..<5).map { record($0, "/\($0)", group: "g\($0)", expiry: 0, host: "hangs.test") }
        guard case .acknowledgedExcept(let refused) = await backend.deliver(Batch(records: records))
        else {
            Issue.record("the beacons must be given up")
            return
        }
        #expect(refused.count == 5 && server.count(of: "https://hangs.test") == 1)
    }

    @Test("A server that hangs delays no beacon for another server, also of the same ad and while the request hangs")
    func hangingRequest() async {
        let server = StuckServer()
        let backend = BeaconBackend(transport: server)
        // A wrapper with many vendors that hang, the healthy one comes last.
        var records = (0..<40).map { record($0, "/imp", group: "a", host: "stuck\($0).test") }
        records.append(record(40, "/first", group: "a", host: "alive.test"))
        let later = record(41, "/later", group: "a", host: "alive.test")
        let all = records + [later]
        let queue = QueuedSamples { body in _ = body(all) }
        let batch = Batch(records: records)
        let delivery = Task { await backend.deliver(batch, before: queue) }
        // Neither the beacon behind those that hang nor the one behind the batch waits for them.
        await server.arrived("/later").wait()
        #expect(server.paths(at: "alive.test") == ["/first", "/later"])
        server.released.open()
        guard case .retry = await delivery.value else {
            Issue.record("the batch must be retried")
            return
        }
        #expect(server.paths(at: "alive.test") == ["/first", "/later"])
    }

    @Test("Where others hang for longer than a delivery looks ahead, a server that was not tried yet is tried still")
    func lateServer() async {
        let (server, clock) = (StuckServer(), VirtualClock())
        let backend = BeaconBackend(transport: server, clock: clock)
        var records = (0..<40).map { record($0, "/imp", group: "a", host: "stuck\($0).test") }
        records.append(record(40, "/first", group: "a", host: "alive.test"))
        let all = records + [record(41, "/later", group: "a", host: "alive.test")]
        let (batch, queue) = (Batch(records: records), QueuedSamples { body in _ = body(all) })
        let delivery = Task { await backend.deliver(batch, before: queue) }
        // Those that hang have all connections, and nothing happens for a long time.
        await clock.waitUntilPending()
        clock.advance(by: .seconds(11))
        let passing = Task {
            while !Task.isCancelled {
                await clock.waitUntilPending()
                clock.advance(by: .milliseconds(100))
            }
        }
        await server.arrived("/later").wait()
        #expect(server.paths(at: "alive.test") == ["/first", "/later"])
        server.released.open()
        _ = await delivery.value
        passing.cancel()
        // Lets the task see that it is cancelled.
        _ = clock.schedule(at: clock.now.advanced(by: .seconds(1))) {}
        await passing.value
    }

    @Test("The first beacons of an ad do not wait for the retries of an older ad at the same server")
    func firstBeacons() async {
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 1_000_000))
        let server = PartlyDeadServer()
        let backend = BeaconBackend(transport: server, clock: clock)
        var records = [record(0, "/old", group: "old", host: "dead.test")]
        for _ in 0..<12 {
            _ = await backend.deliver(Batch(records: records))
            clock.advance(by: .seconds(60))
        }
        server.revive()
        let attempts = server.attempts(at: "dead.test")
        records.append(record(1, "/new", group: "new", host: "dead.test", at: clock.wallTime))
        // Before the end of the back-off, a delivery sends the beacon of the new ad; its answer frees the old one.
        _ = await backend.deliver(Batch(records: records))
        #expect(server.taken(by: "dead.test").contains("/new"))
        #expect(server.attempts(at: "dead.test") > attempts)
    }

    @Test("A flush tries every server that rests once more, and only once")
    func lastTry() async {
        let clock = VirtualClock()
        let server = PartlyDeadServer(retryAfter: 3_600)
        let backend = BeaconBackend(transport: server, clock: clock)
        let batch = Batch(records: (0..<3).map { record($0, "/\($0)", group: "\($0)", host: "dead.test") })
        _ = await backend.deliver(batch)
        let attempts = server.attempts(at: "dead.test")
        _ = await backend.deliver(batch)
        #expect(server.attempts(at: "dead.test") == attempts)
        let flush = QueuedSamples({ body in _ = body(batch.records) }, isFlushing: { true })
        for _ in 0..<3 { _ = await backend.deliver(batch, before: flush) }
        #expect(server.attempts(at: "dead.test") == attempts + 1)
        // The next flush tries again, and the first answer lets the others follow.
        server.revive()
        _ = await backend.deliver(batch)
        #expect(await backend.deliver(batch, before: flush) == .acknowledged)
        #expect(server.taken(by: "dead.test").count == 3)
    }

    @Test("A server that refuses one beacon for now takes those of other ads")
    func oneBadAddress() async {
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 1_000_000))
        let server = ScriptedBeaconServer(["/bad": Array(repeating: 503, count: 100)])
        let backend = BeaconBackend(transport: server, maxAtOnce: 1, clock: clock)
        let records = (0..<5).map { record($0, $0 == 0 ? "/bad" : "/good\($0)", group: "\($0)") }
        for _ in 0..<3 {
            _ = await backend.deliver(Batch(records: records))
            clock.advance(by: .seconds(10))
        }
        #expect(server.taken.count == 4)
    }

    @Test("A beacon for a position of the ad expires soon, an impression with its ad")
    func lifetimes() async {
        let collecting = CollectingBackend()
        let queue = BatchQueue(backends: [collecting])
        let kinds: [AdBeacon.Kind] = [
            .impression, .event(.start), .event(.midpoint), .event(.complete), .error(.linear),
        ]
        Beacons(queue: queue).send(
            kinds.map { AdBeacon(kind: $0, url: AdURL("https://t.test/"), playhead: 0) },
            of: "one"
        )
        #expect(await queue.flush(timeout: .seconds(300)))
        let lifetimes = collecting.samples.compactMap { sample -> Int64? in
            guard case .event(let event) = sample, let expiry = event[.adBeaconExpiry] else { return nil }
            return Int64(expiry) - event.time.wallTime.milliseconds
        }
        #expect(lifetimes == [3_600_000, 3_600_000, 300_000, 300_000, 3_600_000])
    }

    @Test("A person's macro is shared only if the app chose its field and no rule names it")
    func personalMacros() {
        let values = MacroValues(["IFA": .text("person"), "ADTYPE": .text("video")])
        #expect(PrivacyRules().permitted(values)["IFA"] == .withheld)
        #expect(PrivacyRules(choices: ["adMacroIFA": true]).permitted(values)["IFA"] == .text("person"))
        #expect(
            PrivacyRules(fields: ["adMacroIFA": .drop], choices: ["adMacroIFA": true]).permitted(values)["IFA"]
                == .withheld
        )
        #expect(PrivacyRules().permitted(values)["ADTYPE"] == .text("video"))
    }

    @Test("A beacon at a private address is refused where the transport refuses such addresses", .ownThread)
    func privateAddresses() async throws {
        let server = try TestServer { _ in [.respond("204 No Content")] }
        let transport = try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false))
        let queue = BatchQueue(backends: [BeaconBackend(transport: transport)])
        Beacons(queue: queue).send([AdBeacon(kind: .impression, url: AdURL(server.url("/i")), playhead: 0)], of: "one")
        #expect(await queue.flush(timeout: .seconds(300)))
        #expect(server.requests.isEmpty)
    }
}
