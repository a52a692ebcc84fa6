import Instrument
import InstrumentManifests
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Memory of a stream", .ownThread)
struct BoundsTests {
    @Test("The arrival log keeps one instant per half kilobyte, and the exact first and last")
    func arrivals() {
        var log = ArrivalLog()
        for number in 0..<100_000 { log.add(1, at: MonotonicInstant(nanoseconds: Int64(number))) }
        #expect(log.count == 100_000)
        #expect(log.markCount <= 200)
        #expect(log.first == MonotonicInstant(nanoseconds: 0) && log.last == MonotonicInstant(nanoseconds: 99_999))
        for count in [1, 2, 777, 50_000, 100_000] {
            guard let instant = log.instant(of: count) else {
                Issue.record("\(count)")
                continue
            }
            // Never before its arrival, and never half a kilobyte late.
            #expect(Int64(count - 1)...Int64(count + 511) ~= instant.nanoseconds, "\(count): \(instant)")
        }
        #expect(log.instant(of: 100_001) == nil)
    }

    @Test("The timeline keeps the latest of many discontinuities")
    func discontinuities() {
        var timeline = StreamTimeline()
        var content = SegmentContent()
        content.hasTimeline = true
        for number in 0..<10_000 {
            let start = Int64(number) * 2_000_000_000
            let expected = StreamTimeline.Expectation(
                discontinuity: Int64(number),
                start: start,
                duration: 2_000_000_000
            )
            #expect(timeline.place(0, of: content, expected: expected).offset == start)
        }
        #expect(timeline.count == StreamTimeline.capacity)
    }

    @Test("The store keeps the latest two initialization sections")
    func initializations() throws {
        var store = SegmentStore()
        let sections = try (0..<6).map {
            InitializationSegment(url: try HTTPURL("http://origin.example/\($0).mp4"), byteRange: nil)
        }
        for section in sections { store.keep([UInt8](repeating: 0, count: 12 << 20), of: section, for: .main) }
        #expect(sections.filter { store.bytes(of: $0) != nil } == Array(sections.suffix(2)))
    }

    @Test("Ended and aborted fetches are not kept")
    func fetches() {
        let ladder = PaddedLadder(bitrates: [400_000])
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 800_000)]) { ladder.resource($0) }
        let engine = StreamEngine(
            source: MediaSource("http://origin.example/master.m3u8"),
            configuration: ProbeConfiguration(profile: .plain()),
            fetcher: network,
            clock: clock,
            randomness: RandomSource(SystemRandomNumberGenerator())
        )
        engine.perform(.play)
        for number in 1...40 {
            clock.advance(to: MonotonicInstant(nanoseconds: Int64(number) * 300_000_000))
            engine.perform(.seek(to: Int64(number % 6) * 2_000_000_000))
            #expect(engine.runningCount <= 1)
        }
        engine.perform(.stop)
        #expect(engine.runningCount == 0)
    }
}
