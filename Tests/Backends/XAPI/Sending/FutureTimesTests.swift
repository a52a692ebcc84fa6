import Instrument
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite("Statements with times in the future", .ownThread)
struct FutureTimesTests {
    /// When `Watching.event(_, at: 0)` happens.
    private static let start: Int64 = 1_700_000_000_000

    private func backend(_ lrs: LoopbackLRS, _ clock: VirtualClock) throws -> XAPIBackend {
        XAPIBackend(try lrs.configuration(), mapping: Watching.all, transport: try SystemTransport(), clock: clock)
    }

    @Test("A batch waits for its latest time before it is sent")
    func waits() async throws {
        let lrs = try LoopbackLRS()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: Self.start))
        let backend = try backend(lrs, clock)
        let batch = Batch(records: Watching.records([-5, 0, 20].map { Watching.event(.start, at: $0) }))
        guard case .retry(let wait, _) = await backend.deliver(batch) else { throw Unexpected() }
        #expect(wait == .seconds(20))
        #expect(lrs.posts.isEmpty)
        clock.advance(by: .milliseconds(19_999))
        #expect(await backend.deliver(batch) == .retry(after: .milliseconds(1), reason: Self.reason))
        clock.advance(by: .milliseconds(1))
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(lrs.order == batch.records.map(\.id.wire))
    }

    private static let reason = "a statement has a time in the future; the batch waits for it"

    @Test("A sample more than a day in the future becomes a dead letter, and the rest of its batch arrives")
    func tooFar() async throws {
        let lrs = try LoopbackLRS()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: Self.start))
        let events = [0, 86_400.001, 1e9].map { Watching.event(.start, at: $0) }
        let records = Watching.records(events)
        let outcome = try await backend(lrs, clock).deliver(Batch(records: records))
        guard case .acknowledgedExcept(let reasons) = outcome else { throw Unexpected() }
        #expect(Set(reasons.keys) == [records[1].id, records[2].id])
        #expect(reasons.values.allSatisfy { $0.contains("must not lie in the future") })
        #expect(lrs.order == [records[0].id.wire])
    }

    @Test("Nothing overflows at the ends of the calendar", arguments: [Int64.min, -1, 0, 1, .max])
    func ends(now: Int64) {
        let now = WallTime(milliseconds: now)
        for latest in [Int64.min, 0, .max].map({ WallTime(milliseconds: $0) }) {
            #expect((FutureTimes.wait(until: latest, now: now) == nil) == (latest <= now))
            if latest <= now { #expect(!FutureTimes.isBeyondWaiting(latest, now: now)) }
        }
    }

    @Test("The queue holds future samples for this backend alone, and delivers them at their time")
    func queue() async throws {
        let lrs = try LoopbackLRS()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: Self.start))
        let other = CollectingBackend(policy: DeliveryPolicy(maxAge: .zero))
        let queue = BatchQueue(backends: [try backend(lrs, clock), other], clock: clock)
        queue.append([.event(Watching.event(.start, at: 30))])
        let shutdown = Task { await queue.shutdown(timeout: .seconds(3600)) }
        while queue.ledger["xapi"]?.queued == 1 {
            await queue.waitUntilIdle()
            clock.advance(by: .seconds(1))
        }
        #expect(await shutdown.value)
        #expect(other.samples.count == 1)
        #expect(lrs.order.count == 1)
    }
}
