import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Media that arrives just in time", .ownThread)
struct ZeroStallTests {
    @Test("A segment's first part prevents a stall when it arrives before the buffer is empty", arguments: 1...40)
    func zero(tenths: Int64) async throws {
        let ladder = LongLadder(bitrates: [400_000, 1_050_000, 2_500_000], count: 12)
        let clock = VirtualClock()
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: [(0, 4_000_000), (2_000_000_000 + tenths * 100_000_000, 200_000), (16_000_000_000, 4_000_000)]
        ) { ladder.resource($0) }
        let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: .standard))
        let begins = played.all(.bufferBegin).map(\.time.instant.nanoseconds)
        let finishes = played.all(.bufferFinish).map(\.time.instant.nanoseconds)
        for (begin, finish) in zip(begins, finishes) { #expect(finish - begin > 1_000_000, "\(played.story)") }
    }
}
