import Testing

@testable import InstrumentProbe

@Suite("Bitrate ladder and constraints")
struct BitrateLadderTests {
    @Test("A ladder without rungs is nil")
    func empty() { #expect(BitrateLadder([]) == nil) }

    @Test("Rungs are sorted by bitrate with a stable order, and indices are limited to the ladder")
    func sorted() throws {
        let rungs = [(1, 5), (2, 3), (3, 5), (4, 0)].map { LadderRung(id: $0.0, peakBitrate: $0.1) }
        let ladder = try #require(BitrateLadder(rungs))
        #expect(ladder.map(\.id) == [4, 2, 1, 3])
        #expect(ladder[0].peakBitrate == 1)
        #expect(ladder[-7].id == 4 && ladder[99].id == 3)
        #expect(ladder.highest == 3)
    }

    @Test("Constraints allow the rungs that fit; if no rung fits, the lowest rung")
    func constraints() {
        var constraints = AdaptationConstraints(maximumBitrate: 2_500_000)
        #expect(constraints.allowedRungs(of: three, isStarting: false) == [0, 1])
        constraints.excluded = [0]
        #expect(constraints.allowedRungs(of: three, isStarting: false) == [1])
        constraints.maximumHeight = 100
        #expect(constraints.allowedRungs(of: three, isStarting: false) == [1])
        constraints.excluded = [0, 1, 2, 77]
        #expect(constraints.allowedRungs(of: three, isStarting: false) == [0])
        let start = AdaptationConstraints(maximumStartBitrate: 1_000_000)
        #expect(start.allowedRungs(of: three, isStarting: true) == [0])
        #expect(start.allowedRungs(of: three, isStarting: false) == [0, 1, 2])
    }
}
