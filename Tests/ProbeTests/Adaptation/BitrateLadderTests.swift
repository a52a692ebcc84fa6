import InstrumentProbe
import Testing

@Suite("Bitrate ladder")
struct BitrateLadderTests {
    @Test("A ladder without rungs cannot be made")
    func empty() { #expect(BitrateLadder([]) == nil) }
}
