import InstrumentTestKit
import Testing

@testable import InstrumentOrigin

@Suite("A delivery schedule")
struct ScheduleTests {
    @Test("Bytes leave at the inverse of the integral")
    func analytic() throws {
        let dip = try DeliverySchedule("4000k for 10s, 600k for 20s, 4000k")
        #expect(dip.instant(ofByte: 0, startingAt: .seconds(3)) == .seconds(3))
        #expect(dip.instant(ofByte: 500_000, startingAt: .zero) == .seconds(1))
        #expect(dip.instant(ofByte: 5_000_000, startingAt: .zero) == .seconds(10))
        // A million bytes at 600 kbit/s: 13.333… s, rounded up.
        #expect(dip.instant(ofByte: 6_000_000, startingAt: .zero) == .nanoseconds(23_333_333_334))
        #expect(dip.instant(ofByte: 1, startingAt: .seconds(10)) == .nanoseconds(10_000_013_334))
        #expect(dip.instant(ofByte: 7_000_000, startingAt: .zero) == .seconds(31))
        #expect(dip.bytes(from: .seconds(9), to: .seconds(11)) == 500_000 + 75_000)
        #expect(dip.bandwidth(at: .seconds(10)) == .kilobits(600))
        #expect(dip.bandwidth(at: .nanoseconds(9_999_999_999)) == .kilobits(4000))
    }

    @Test("A repeating schedule restarts at the end of a round")
    func repeated() throws {
        let schedule = try DeliverySchedule("8k for 1s, 0 for 1s, repeat")
        #expect(schedule.instant(ofByte: 1_000, startingAt: .zero) == .seconds(1))
        #expect(schedule.instant(ofByte: 1_001, startingAt: .zero) == .milliseconds(2_001))
        #expect(schedule.instant(ofByte: 1_000_000, startingAt: .zero) == .seconds(1_999))
        #expect(schedule.instant(ofByte: 1, startingAt: .milliseconds(1_500)) == .milliseconds(2_001))
    }

    @Test("A schedule that ends with bandwidth 0 delivers no further byte")
    func never() throws {
        #expect(try DeliverySchedule("8k for 1s, 0").instant(ofByte: 1_000, startingAt: .zero) == .seconds(1))
        #expect(try DeliverySchedule("8k for 1s, 0").instant(ofByte: 1_001, startingAt: .zero) == nil)
        #expect(try DeliverySchedule("0 for 1s, repeat").instant(ofByte: 1, startingAt: .zero) == nil)
        #expect(DeliverySchedule(.none).instant(ofByte: 0, startingAt: .seconds(1)) == .seconds(1))
    }

    @Test("An unlimited link delivers immediately, and no number overflows")
    func extremes() {
        let unlimited = DeliverySchedule.unlimited
        #expect(unlimited.instant(ofByte: 1 << 30, startingAt: .seconds(3)) == .seconds(3))
        #expect(unlimited.instant(ofByte: .max, startingAt: .seconds(1)) == .seconds(1))
        #expect(
            DeliverySchedule([.init(.kilobits(8), for: .seconds(1)), .init(.unlimited)])
                .instant(ofByte: 5_000, startingAt: .zero) == .seconds(1)
        )
        #expect(unlimited.bytes(from: .zero, to: .seconds(Int64.max)) == .max)
        #expect(DeliverySchedule(Bandwidth(bitsPerSecond: 1)).instant(ofByte: .max, startingAt: .zero) == nil)
        #expect(DeliverySchedule(Bandwidth(bitsPerSecond: 1)).instant(ofByte: -5, startingAt: .seconds(-5)) == .zero)
        #expect(Bandwidth.kilobits(.max) == .unlimited && Bandwidth(bitsPerSecond: -1) == .none)
        let step = DeliverySchedule.Step(.unlimited, for: .seconds(Int64.max))
        #expect(DeliverySchedule([step, step], repeats: true).instant(ofByte: .max, startingAt: .zero) != nil)
        #expect(DeliverySchedule([]) == .unlimited)
        let trickle = DeliverySchedule(
            [.init(Bandwidth(bitsPerSecond: 1), for: .nanoseconds(1)), .init(.none, for: .seconds(4_000_000_000))],
            repeats: true
        )
        #expect(trickle.instant(ofByte: .max, startingAt: .seconds(1)) == nil)
    }

    @Test(
        "The instant of a byte agrees with a simulation in steps",
        arguments: 1...40
    )
    func simulation(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let schedule = Self.random(using: &random)
        // Whole bytes a microsecond, so that the simulation is exact too.
        let start = Int.random(in: 0...50, using: &random)
        var carried = 0
        var goals = (0..<20).map { _ in Int.random(in: 1...40_000, using: &random) }.sorted()[...]
        for microsecond in start..<4_000 {
            carried += schedule.bandwidth(at: .microseconds(microsecond)).bitsPerSecond / 8_000_000
            while let goal = goals.first, goal <= carried {
                let instant = try #require(schedule.instant(ofByte: goal, startingAt: .microseconds(start)))
                #expect(instant > .microseconds(microsecond) && instant <= .microseconds(microsecond + 1))
                goals.removeFirst()
            }
            #expect(schedule.bytes(from: .microseconds(start), to: .microseconds(microsecond + 1)) == carried)
        }
    }

    @Test("Instant and bytes are inverse to each other", arguments: 1...40)
    func inverse(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let steps = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            DeliverySchedule.Step(
                Bandwidth(
                    bitsPerSecond: Int.random(in: 0...3, using: &random) * Int.random(in: 1...9_999_999, using: &random)
                ),
                for: .nanoseconds(Int64.random(in: 1...3_000_000_000, using: &random))
            )
        }
        let schedule = DeliverySchedule(steps, repeats: Bool.random(using: &random))
        for _ in 0..<200 {
            let start = Duration.nanoseconds(Int64.random(in: 0...20_000_000_000, using: &random))
            let count = Int.random(in: 1...20_000_000, using: &random)
            guard let instant = schedule.instant(ofByte: count, startingAt: start) else { continue }
            #expect(schedule.bytes(from: start, to: instant) >= count)
            #expect(schedule.bytes(from: start, to: instant - .nanoseconds(1)) < count)
        }
    }

    @Test(
        "A schedule's text parses to the expected steps",
        arguments: [
            ("4000k", "4000k"), ("2.5M for 1.5s,64001", "2500k for 1500ms, 64001"), ("unlimited", "unlimited"),
            ("1G latency 40ms for 1m, 0 for 3s, REPEAT", "1000000k latency 40ms for 60s, 0k for 3s, repeat"),
        ]
    )
    func text(written: String, canonical: String) throws {
        let schedule = try DeliverySchedule(written)
        #expect(schedule.description == canonical)
        #expect(try DeliverySchedule(canonical) == schedule)
    }

    @Test("A latency applies until the next one")
    func latency() throws {
        let schedule = try DeliverySchedule("1M for 1s, 2M latency 40ms for 1s, 3M for 1s, 4M latency 0s")
        #expect(
            (0..<4).map { schedule.latency(at: .seconds($0)) } == [.zero, .milliseconds(40), .milliseconds(40), .zero]
        )
    }

    @Test(
        "An invalid schedule is rejected with the expected form",
        arguments: [
            "", "fast", "4000k for", "4000k for ten", "4000k for 10", "-1k", "1k 2k", "1k, 2k", "repeat", "1k, repeat",
            "1k for 0s, repeat", "1k for 1s, repeat, 2k", "1k for 1s,", "nan", "1e400", "1k latency", "infk",
            "1k for -1s",
        ]
    )
    func refused(text: String) { #expect(throws: OriginSyntaxError.self) { try DeliverySchedule(text) } }

    private static func random(using random: inout SeededGenerator) -> DeliverySchedule {
        let count = Int.random(in: 1...5, using: &random)
        let steps = (0..<count).map { _ in
            DeliverySchedule.Step(
                Bandwidth(bitsPerSecond: 8_000_000 * Int.random(in: 0...20, using: &random)),
                for: .microseconds(Int64.random(in: 1...500, using: &random))
            )
        }
        return DeliverySchedule(steps, repeats: Bool.random(using: &random))
    }
}
