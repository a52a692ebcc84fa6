import InstrumentTestKit
import Testing

@testable import InstrumentOrigin

@Suite("A shared link")
struct SharedLinkTests {
    private static let second: Int64 = 1_000_000_000

    @Test("Fair sharing gives each response an equal share, and more when others complete")
    func fair() {
        // A thousand bytes a second.
        var link = SharedLink(DeliverySchedule(.kilobits(8)), sharing: .fair)
        link.join(1, bytes: 1_000, at: 0)
        link.join(2, bytes: 2_000, at: Self.second / 2)
        #expect(link.released(1, at: Self.second) == 750)
        #expect(link.released(2, at: Self.second) == 250)
        // The first one's last 250 bytes take half a second more; then the second one is alone.
        #expect(link.wake(1, forByte: 1_000, at: Self.second) == Self.second * 3 / 2)
        #expect(link.released(1, at: Self.second * 3 / 2) == nil)
        #expect(link.released(2, at: Self.second * 2) == 1_000)
        #expect(link.wake(2, forByte: 2_000, at: Self.second * 2) == Self.second * 3)
        #expect(link.released(2, at: Self.second * 3) == nil)
        #expect(link.count == 0)
    }

    @Test("Sequential sharing sends one response after another")
    func inOrder() {
        var link = SharedLink(DeliverySchedule(.kilobits(8)), sharing: .firstComeFirstServed)
        link.join(1, bytes: 1_000, at: 0)
        link.join(2, bytes: 2_000, at: Self.second / 2)
        #expect(link.released(1, at: Self.second / 2) == 500)
        #expect(link.released(2, at: Self.second - 1) == 0)
        #expect(link.wake(2, forByte: 1, at: Self.second / 2) == Self.second)
        #expect(link.released(2, at: Self.second * 2) == 1_000)
        #expect(link.wake(2, forByte: 2_000, at: Self.second * 2) == Self.second * 3)
    }

    @Test("A response that ends early frees the link for the others", arguments: LinkSharing.allCases)
    func leaving(sharing: LinkSharing) {
        var link = SharedLink(DeliverySchedule(.kilobits(8)), sharing: sharing)
        link.join(1, bytes: 10_000, at: 0)
        link.join(2, bytes: 1_000, at: 0)
        link.leave(1, at: Self.second)
        let done = Self.second + (sharing == .fair ? Self.second / 2 : Self.second)
        #expect(link.wake(2, forByte: 1_000, at: Self.second) == done)
        #expect(link.released(2, at: done) == nil)
    }

    @Test("A late report takes effect at its instant, but not before a handled event")
    func late() {
        var link = SharedLink(DeliverySchedule(.kilobits(8)), sharing: .fair)
        link.join(1, bytes: 9_000, at: Self.second)
        #expect(link.released(1, at: Self.second * 2) == 1_000)
        link.join(2, bytes: 9_000, at: Self.second * 3 / 2)
        #expect(link.released(1, at: Self.second * 2) == 750 && link.released(2, at: Self.second * 2) == 250)
        link.join(3, bytes: 9_000, at: Self.second)
        #expect(link.released(3, at: Self.second * 3 / 2) == 0)
    }

    @Test("A new schedule applies from its instant on")
    func following() {
        var link = SharedLink(DeliverySchedule(.kilobits(8)), sharing: .fair)
        link.join(1, bytes: 3_000, at: 0)
        link.follow(DeliverySchedule(.kilobits(16)), at: Self.second)
        #expect(link.released(1, at: Self.second * 3 / 2) == 2_000)
        #expect(link.released(1, at: Self.second * 2) == nil)
    }

    @Test("The state of a link does not depend on the number of calls", arguments: 1...30)
    func looking(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let schedule = Self.schedule(using: &random)
        let sharing = LinkSharing.allCases.randomElement(using: &random) ?? .fair
        var quiet = SharedLink(schedule, sharing: sharing)
        var watched = quiet
        var now: Int64 = 0
        for number in 1...8 {
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                now += Int64.random(in: 0...50_000_000, using: &random)
                _ = watched.released(Int.random(in: 1...8, using: &random), at: now)
                _ = watched.wake(Int.random(in: 1...8, using: &random), forByte: 100, at: now)
            }
            let bytes = Int.random(in: 0...50_000, using: &random)
            quiet.join(number, bytes: bytes, at: now)
            watched.join(number, bytes: bytes, at: now)
        }
        for _ in 0..<200 {
            now += Int64.random(in: 0...50_000_000, using: &random)
            let snapshot = quiet
            for number in 1...8 {
                var once = snapshot
                #expect(once.released(number, at: now) == watched.released(number, at: now))
            }
        }
    }

    @Test("The link agrees with a simulation in small steps", arguments: 1...20)
    func simulation(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let schedule = Self.schedule(using: &random)
        let sharing = LinkSharing.allCases.randomElement(using: &random) ?? .fair
        var link = SharedLink(schedule, sharing: sharing)
        var flows: [(number: Int, size: Double, served: Double)] = []
        let step: Int64 = 20_000
        for tick in Int64(0)..<20_000 {
            let now = tick * step
            if tick % 1_000 == 0, flows.count < 6 {
                let bytes = Int.random(in: 1...60_000, using: &random)
                link.join(Int(tick), bytes: bytes, at: now)
                flows.append((Int(tick), Double(bytes), 0))
            }
            let waiting = flows.indices.filter { flows[$0].served < flows[$0].size }
            var load = Double(schedule.bandwidth(at: .nanoseconds(now)).bitsPerSecond) / 8e9 * Double(step)
            if sharing == .fair {
                for index in waiting { flows[index].served += load / Double(waiting.count) }
            } else {
                for index in waiting {
                    let part = min(load, flows[index].size - flows[index].served)
                    flows[index].served += part
                    load -= part
                }
            }
            guard tick % 100 == 99 else { continue }
            for flow in flows {
                let released = Double(link.released(flow.number, at: now + step) ?? Int(flow.size))
                // A step of the simulation transfers at most 250 bytes, and loses the rest of a step in which a
                // response ends.
                #expect(abs(released - min(flow.size, flow.served)) <= 250 * Double(flows.count) + 1)
            }
        }
    }

    private static func schedule(using random: inout SeededGenerator) -> DeliverySchedule {
        let steps = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            DeliverySchedule.Step(
                .kilobits(Int.random(in: 0...20, using: &random) * 5_000),
                for: .milliseconds(Int64.random(in: 1...100, using: &random))
            )
        }
        return DeliverySchedule(steps, repeats: true)
    }
}
