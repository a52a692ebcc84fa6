import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// A request of a stream is an event where the configuration asks for it.
@Suite("Events of requests", .ownThread)
struct RequestEventTests {
    private func play(reportsRequests: Bool, fault: SimulatedNetwork.Fault? = nil) async -> [Event] {
        let clock = VirtualClock()
        let ladder = PaddedLadder(bitrates: [400_000])
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: [(0, 8_000_000)],
            fault: { path, count in path.hasSuffix("media2.ts") && count == 1 ? fault : nil }
        ) { ladder.resource($0) }
        let configuration = ProbeConfiguration(
            profile: .plain(retries: 1, after: []),
            reportsRequests: reportsRequests
        )
        let played = await playStream("/master.m3u8", over: network, clock, configuration)
        #expect(played.outcome == .ended && played.rejected.isEmpty)
        return played.events
    }

    @Test("Each request is an event, and the events add up to the sums that every event carries")
    func each() async throws {
        let events = await play(reportsRequests: true)
        let requests = events.filter { $0.action == .requestFinish }
        let end = try #require(events.last { $0.action == .end })
        #expect(
            requests.map { $0[.requestKind] } == ["manifest", "playlist"] + Array(repeating: "segment", count: 6),
            "\(events.count)"
        )
        #expect(requests.count == end[.countRequests])
        #expect(requests.compactMap { $0[.requestBytes] }.reduce(0, +) == end[.receivedBytes])
        #expect(requests.allSatisfy { $0[.requestFailed] == false })
        for request in requests {
            let (first, whole) = (request[.timeToFirstByte], request[.requestTime])
            #expect(try #require(first) <= #require(whole))
        }
        let segment = try #require(requests.last)
        let bits = try #require(segment[.requestBytes]) * 8
        let time = try #require(segment[.requestTime])
        // The time is in whole milliseconds.
        let ratio = Double(try #require(segment[.throughput])) / (Double(bits) / time.seconds)
        #expect(abs(ratio - 1) < 0.02)
    }

    @Test("A request that fails is an event that says so")
    func failed() async throws {
        let events = await play(reportsRequests: true, fault: .status(500))
        let failures = events.filter { $0.action == .requestFinish && $0[.requestFailed] == true }
        #expect(failures.map { $0[.requestKind] } == ["segment"])
        #expect(events.last { $0.action == .end }?[.countFailedRequests] == 1)
    }

    @Test("Without the option, a request is no event")
    func none() async {
        let events = await play(reportsRequests: false, fault: .status(500))
        #expect(!events.contains { $0.action == .requestFinish || $0[.requestKind] != nil })
    }
}
