import Foundation
import Instrument
import InstrumentAds
import InstrumentBeacons
import InstrumentDurableQueue
import InstrumentHTTP
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// Counts the requests by address. `dead.test` refuses connections, `no.test` answers 404.
private final class CountingServer: HTTPTransport {
    private struct State {
        var counts: [String: Int] = [:]
        var isDead = true
        var afterRequest: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    var counts: [String: Int] { state.withLock { $0.counts } }
    func revive() { state.withLock { $0.isDead = false } }
    func onRequest(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.afterRequest = action } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let (isRefused, action) = state.withLock { state in
            let isRefused = state.isDead && request.url.host == "dead.test"
            if !isRefused { state.counts[request.url.host + request.url.path, default: 0] += 1 }
            return (isRefused, state.afterRequest)
        }
        action?()
        if isRefused { throw HTTPError(.connection, "refused", url: request.url) }
        return HTTPResponse(status: request.url.host == "no.test" ? 404 : 204, url: request.url)
    }
}

/// Beacons that were sent before those of a dead server, and a process that ends before the dead server is back.
@Suite("Beacons that were sent before their turn")
struct BeaconReceiptTests {
    private static let count = 600
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The n-th of several beacons: each third one is for the dead server, and one of ten is refused by its server.
    private static func address(_ number: Int) -> String {
        let host = number % 3 == 0 ? "dead.test" : number % 10 == 1 ? "no.test" : "alive.test"
        return "\(host)/\(number)"
    }

    private func queue(_ store: any SampleStore, _ server: CountingServer, _ clock: VirtualClock) -> BatchQueue {
        BatchQueue(store: store, backends: [BeaconBackend(transport: server, clock: clock)], clock: clock)
    }

    private func append(to queue: BatchQueue, _ clock: VirtualClock) {
        let beacons = Beacons(queue: queue, clock: clock)
        for number in 0..<Self.count {
            let url = AdURL("https://" + Self.address(number))
            beacons.send([AdBeacon(kind: .impression, url: url, playhead: 0)], of: "ad \(number / 20)")
        }
    }

    /// Delivers until every server that answers has its beacons and the queue waits for the dead one.
    private func deliver(_ queue: BatchQueue, _ server: CountingServer, _ clock: VirtualClock) async {
        let answered = (0..<Self.count).count { !Self.address($0).hasPrefix("dead") }
        await queue.waitUntilIdle()
        while server.counts.count < answered {
            clock.advance(by: .seconds(1))
            await queue.waitUntilIdle()
        }
    }

    private func check(_ server: CountingServer, _ ledger: Ledger?, _ comment: Comment) throws {
        let twice = server.counts.filter { $0.value != 1 }
        #expect(twice.isEmpty, "\(comment): \(twice.count) addresses, such as \(twice.prefix(3))")
        #expect(server.counts.count == Self.count, comment)
        let ledger = try #require(ledger)
        let refused = (0..<Self.count).count { Self.address($0).hasPrefix("no.") }
        #expect((ledger.acknowledged, ledger.dead, ledger.queued) == (Self.count - refused, refused, 0), comment)
    }

    @Test(
        "No server receives a beacon twice because another one was dead at the end of the process",
        arguments: [
            "a shutdown", "a kill",
        ]
    )
    func restart(end: String) async throws {
        let (server, clock, path) = (CountingServer(), VirtualClock(), scratch.file("queue"))
        let store = try DurableStore(directory: path)
        let first = queue(store, server, clock)
        append(to: first, clock)
        await deliver(first, server, clock)
        let before = server.counts
        var copy = path
        if end == "a kill" {
            // What a killed process leaves: the files as they are.
            copy = scratch.file("killed")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
        }
        #expect(await first.shutdown(timeout: .zero) == false)
        store.close()
        #expect(server.counts == before)
        server.revive()
        let again = try DurableStore(directory: copy)
        let second = queue(again, server, clock)
        #expect(await second.flush(timeout: .seconds(3_600)))
        try check(server, second.ledger["beacons"], "after \(end)")
        _ = await second.shutdown(timeout: .seconds(10))
        again.close()
    }

    @Test("A backend that replaces another one sends none of its beacons again")
    func replaced() async throws {
        let (server, clock) = (CountingServer(), VirtualClock())
        let queue = queue(InMemoryStore(), server, clock)
        append(to: queue, clock)
        await deliver(queue, server, clock)
        server.revive()
        #expect(await queue.replace(backend: BeaconBackend(transport: server, clock: clock)))
        #expect(await queue.flush(timeout: .seconds(3_600)))
        try check(server, queue.ledger["beacons"], "after a replacement")
    }

    @Test("After an erasure or a denial of consent, no beacon is sent that was read before")
    func erasedMeanwhile() async throws {
        let server = CountingServer()
        let isCurrent = Lock(true)
        server.onRequest { isCurrent.withLock { $0 = false } }
        let backend = BeaconBackend(transport: server, maxAtOnce: 1)
        let samples = CollectingBackend()
        let queue = BatchQueue(backends: [samples])
        let beacons = Beacons(queue: queue)
        for number in 0..<10 {
            let url = AdURL("https://alive.test/\(number)")
            beacons.send([AdBeacon(kind: .impression, url: url, playhead: 0)], of: "ad")
        }
        #expect(await queue.flush(timeout: .seconds(300)))
        let records = samples.samples.enumerated().map { number, sample in
            SampleRecord(id: SampleID(log: 1, sequence: UInt64(number)), sequence: UInt64(number), sample: sample)
        }
        let kept = Lock<[DeliveryReceipt]>([])
        let queued = QueuedSamples {
            _ = $0(records)
        } isFlushing: {
            false
        } isCurrent: {
            isCurrent.withLock { $0 }
        } keep: { receipts in
            kept.withLock { $0 += receipts }
        }
        guard case .retry = await backend.deliver(Batch(records: records), before: queued) else {
            Issue.record("beacons that were not sent must stay in the queue")
            return
        }
        #expect(server.counts == ["alive.test/0": 1])
        #expect(kept.withLock { $0.map(\.sequence) } == [0])
    }
}
