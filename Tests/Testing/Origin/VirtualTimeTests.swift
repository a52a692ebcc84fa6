import Foundation
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentOrigin

@Suite("The origin by a virtual clock", .ownThread, .timeLimit(.minutes(30)))
struct VirtualTimeTests {
    /// An origin whose clock advances only in `settle`.
    private func start(
        _ schedule: String,
        faults: [String] = [],
        clock: VirtualClock,
        change: (inout OriginConfiguration) -> Void = { _ in }
    ) async throws -> Origin {
        var configuration = OriginConfiguration()
        configuration.clock = clock
        change(&configuration)
        return try await Origin.start(
            media: [.fixtures(try await SharedFixtures.get())],
            schedule: DeliverySchedule(schedule),
            faults: faults.map { try FaultRule($0) },
            configuration: configuration
        )
    }

    /// Moves the clock from one deadline to the next, as they come up, until the client has its answers.
    private func settle<Answers: Sendable>(
        _ clock: VirtualClock,
        until answers: Task<Answers, any Error>
    ) async throws -> Answers {
        let driver = Task {
            while !Task.isCancelled {
                await clock.waitUntilPending()
                if let next = clock.nextDeadline { clock.advance(to: next) }
            }
        }
        defer { driver.cancel() }
        return try await answers.value
    }

    @Test("First and last bytes leave at their instants, to the nanosecond")
    func exact() async throws {
        let clock = VirtualClock()
        let text = "300k latency 20ms for 1s, 0 for 3s, 1M for 500ms, 70k"
        let schedule = try DeliverySchedule(text)
        let origin = try await start(text, clock: clock)
        let answer = try await settle(clock, until: Task { try await fetch(origin.port, "/vod/ts/v0/0.ts") })
        let size = Fixtures.variants[0].transportSegmentLength
        let record = try #require(origin.requests.first)
        #expect(record.lastByte == schedule.instant(ofByte: size, startingAt: .milliseconds(20)))
        // The first piece is what ten milliseconds carry, and leaves with its last byte.
        #expect(record.firstByte == .milliseconds(30))
        #expect(answer.body.count == size)
        await origin.stop()
    }

    @Test("Consecutive requests on one connection add up exactly")
    func sequence() async throws {
        let clock = VirtualClock()
        let text = "4000k for 1s, 600k for 2s, repeat"
        let schedule = try DeliverySchedule(text)
        let origin = try await start(text, clock: clock)
        let port = origin.port
        let answers = Task {
            try await blocking {
                let client = try RawClient(port: port)
                return (0..<10).map { client.get("/s/a/vod/ts/v0/\($0).ts").body.count }
            }
        }
        #expect(try await settle(clock, until: answers) == Array(repeating: 100_016, count: 10))
        for record in origin.requests {
            #expect(record.lastByte == schedule.instant(ofByte: 100_016, startingAt: record.start))
        }
        // Each response's end is rounded up to a nanosecond.
        let end = try #require(origin.requests.last?.lastByte)
        let whole = try #require(schedule.instant(ofByte: 1_000_160, startingAt: .zero))
        #expect(end >= whole && end < whole + .nanoseconds(10))
        await origin.stop()
    }

    @Test("All sessions share one link when configured")
    func serverScope() async throws {
        let clock = VirtualClock()
        let origin = try await start("800k", clock: clock) { $0.scope = .server }
        let port = origin.port
        let answers = Task {
            async let first = fetch(port, "/s/a/vod/ts/v0/0.ts")
            async let second = fetch(port, "/s/b/vod/ts/v0/0.ts")
            return try await [first, second].map(\.body.count)
        }
        try await until { origin.requests.count == 2 }
        #expect(try await settle(clock, until: answers) == [100_016, 100_016])
        #expect(origin.requests.compactMap(\.lastByte).max() == .nanoseconds(2_000_320_000))
        await origin.stop()
    }

    @Test("A schedule can change during a response")
    func change() async throws {
        let clock = VirtualClock()
        let origin = try await start("0", clock: clock)
        let answer = Task { try await fetch(origin.port, "/vod/ts/v0/0.ts") }
        try await until { origin.requests.count == 1 }
        clock.advance(by: .seconds(10))
        origin.setSchedule(DeliverySchedule(.kilobits(800)))
        #expect(try await settle(clock, until: answer).body.count == 100_016)
        #expect(origin.requests[0].lastByte == .seconds(10) + .nanoseconds(1_000_160_000))
        await origin.stop()
    }

    @Test("A live playlist follows the clock, and stays unchanged under a stale rule")
    func live() async throws {
        let clock = VirtualClock()
        let origin = try await start("unlimited", faults: ["stale on live/*.m3u8 from 20s"], clock: clock)
        func sequence() async throws -> Int? {
            let text = try await fetch(origin.port, "/live/ts/v0.m3u8").text
            let line = text.split(separator: "\n").first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }
            return line.flatMap { Int($0.dropFirst(22)) }
        }
        // It has been on for a minute: 30 segments, of which five are listed.
        #expect(try await sequence() == 25)
        clock.advance(by: .milliseconds(1_999))
        #expect(try await sequence() == 25)
        clock.advance(by: .milliseconds(1))
        #expect(try await sequence() == 26)
        #expect(try await fetch(origin.port, "/live/ts/v0/30.ts").status == 200)
        #expect(try await fetch(origin.port, "/live/ts/v0/31.ts").status == 404)
        #expect(try await fetch(origin.port, "/live/ts/v0/21.ts").status == 200)
        #expect(try await fetch(origin.port, "/live/ts/v0/20.ts").status == 404)
        clock.advance(by: .seconds(60))
        #expect(try await sequence() == 35)
        clock.advance(by: .seconds(60))
        #expect(try await sequence() == 35)
        await origin.stop()
    }
}
