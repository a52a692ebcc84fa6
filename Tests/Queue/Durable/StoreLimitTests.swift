import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueTorture
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Limits of a durable store", .ownThread)
struct StoreLimitTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ configuration: DurableConfiguration = DurableConfiguration(segmentSize: 4096)) throws
        -> DurableStore
    {
        try DurableStore(directory: scratch.path, configuration: configuration)
    }

    @Test(
        "Samples older than the limit are dropped by whole segments, by the samples' instants, also after a restart"
    )
    func age() throws {
        func old(_ seconds: Int, _ number: Int) -> Sample {
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000),
                // The calendar is wrong by years, and nothing uses it.
                wallTime: WallTime(milliseconds: Int64(-number) * 86_400_000_000)
            )
            return .event(Event(.ping, tracker: TrackerID(0), time: time, attributes: ["number": .int(number)]))
        }
        let limits = QueueLimits(maxAge: .seconds(3600))
        let configuration = DurableConfiguration(limits: limits, segmentSize: 4096)
        var store: DurableStore? = try open(configuration)
        store?.attach("one")
        for number in 0..<300 { _ = try store?.append([old(10, number)]) }
        // Exactly an hour later, no sample is too old.
        _ = try store?.append([old(3610, 300)])
        try store?.synchronize()
        #expect(store?.ledger(of: "one").dropped == 0)
        store?.close()
        store = nil
        store = try open(configuration)
        _ = try store?.append([old(3611, 301)])
        try store?.synchronize()
        // The segment with the younger sample is kept as a whole.
        let ledger = try #require(store?.ledger(of: "one"))
        #expect(ledger.drops.keys.allSatisfy { $0 == .age } && ledger.dropped > 200 && ledger.queued >= 2)
        let rest = try NumberedSamples.numbers(NumberedSamples.drain(#require(store)))
        #expect(rest == Array((302 - rest.count)..<302))
        _ = try store?.append([old(20_000, 302)])
        #expect(try NumberedSamples.numbers(NumberedSamples.drain(#require(store))) == [302])
    }

    @Test("Samples of another boot are kept as if they were new, because their age is unknown")
    func ageOfAnotherBoot() throws {
        let configuration = DurableConfiguration(
            limits: QueueLimits(maxAge: .seconds(60)),
            segmentSize: 4096
        )
        var store: DurableStore? = try open(configuration)
        store?.attach("one")
        // Larger instants than any in the next boot.
        let late = Timestamp(instant: MonotonicInstant(nanoseconds: .max / 2), wallTime: WallTime(milliseconds: 0))
        _ = try store?.append([.event(Event(.ping, tracker: TrackerID(0), time: late))])
        store?.close()
        store = nil
        store = try open(configuration)
        let soon = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: WallTime(milliseconds: 0))
        _ = try store?.append([.event(Event(.ping, tracker: TrackerID(0), time: soon))])
        #expect(store?.ledger(of: "one").queued == 2)
    }

    @Test("A full store drops and counts its oldest segments, or refuses new samples")
    func limits() throws {
        let limits = QueueLimits(maxBytes: 32 << 10)
        let dropping = try open(DurableConfiguration(limits: limits, segmentSize: 4096))
        dropping.attach("one")
        for number in 0..<2000 { _ = try dropping.append([NumberedSamples.sample(number)]) }
        let kept = NumberedSamples.numbers(NumberedSamples.drain(dropping))
        #expect(kept.last == .some(1999))
        #expect(kept == Array((2000 - kept.count)..<2000))
        let ledger = dropping.ledger(of: "one")
        #expect(ledger.drops == [.bytes: 2000 - kept.count])
        #expect(ledger.emitted == ledger.settled)

        let refusing = try DurableStore(
            directory: scratch.path + "/refusing",
            configuration: DurableConfiguration(limits: QueueLimits(maxCount: 10, whenFull: .refuseNew))
        )
        refusing.attach("one")
        for number in 0..<10 { _ = try refusing.append([NumberedSamples.sample(number)]) }
        #expect(throws: QueueError.self) { try refusing.append([NumberedSamples.sample(10)]) }
        #expect(refusing.ledger(of: "one").drops == [.refused: 1])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(refusing)) == Array(0..<10))
        // Delivered samples have left the queue, although their segment is still there.
        for number in 10..<20 { _ = try refusing.append([NumberedSamples.sample(number)]) }
        #expect(throws: QueueError.self) { try refusing.append([NumberedSamples.sample(20)]) }
        #expect(NumberedSamples.numbers(NumberedSamples.drain(refusing)) == Array(10..<20))
    }

    @Test("A store that refuses new samples for their size accepts samples again after a delivery")
    func refusalBySize() throws {
        // The segments are larger than the queue may be.
        var configuration = DurableConfiguration(segmentSize: 1 << 20)
        configuration.limits = QueueLimits(maxBytes: 8 << 10, whenFull: .refuseNew)
        let store = try open(configuration)
        store.attach("one")
        store.attach("two")
        var next = 0
        for _ in 0..<3 {
            let first = next
            while (try? store.append([NumberedSamples.sample(next)])) != nil, next < 100_000 { next += 1 }
            #expect(next > first)
            #expect(NumberedSamples.numbers(NumberedSamples.drain(store, "one")) == Array(first..<next))
            // The other backend has the samples still before it.
            #expect(throws: QueueError.self) { try store.append([NumberedSamples.sample(next)]) }
            #expect(NumberedSamples.numbers(NumberedSamples.drain(store, "two")) == Array(first..<next))
        }
    }
}
