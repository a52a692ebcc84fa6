import Instrument
import Testing

@testable import InstrumentProbe

@Suite("Arrivals of bytes")
struct ArrivalLogTests {
    /// Bursts of ten pieces, a millisecond apart, which begin at these milliseconds.
    private func log(bursts: [Int64], pieces: Int64 = 10) -> ArrivalLog {
        var log = ArrivalLog()
        for start in bursts {
            for piece in 0..<pieces {
                log.add(1_000, at: MonotonicInstant(nanoseconds: (start + piece) * 1_000_000))
            }
        }
        return log
    }

    @Test("The pauses of a server that produces the bytes do not count as transfer")
    func pauses() {
        let chunks = log(bursts: [0, 500, 1_000, 1_500])
        #expect(chunks.transferTimeWithoutPauses == .milliseconds(36))
    }

    @Test("A steady link has no pauses, and neither has a log of one arrival")
    func steady() {
        #expect(log(bursts: [0], pieces: 200).transferTimeWithoutPauses == .milliseconds(199))
        #expect(log(bursts: [0, 100, 200, 300], pieces: 1).transferTimeWithoutPauses == .milliseconds(300))
        #expect(log(bursts: [5], pieces: 1).transferTimeWithoutPauses == .zero)
        #expect(ArrivalLog().transferTimeWithoutPauses == .zero)
    }

    @Test(
        "A byte counts at most 2 ms after its arrival, however small the pieces are",
        arguments: [50_000, 900_000, 7_000_000]
    )
    func smallPieces(distance: Int64) throws {
        var log = ArrivalLog()
        for piece in 0..<200 { log.add(10, at: MonotonicInstant(nanoseconds: Int64(piece) * distance)) }
        for piece in 0..<200 {
            let arrival = Int64(piece) * distance
            for count in [piece * 10 + 1, piece * 10 + 10] {
                let instant = try #require(log.instant(of: count))
                #expect(arrival...(arrival + 2_000_000) ~= instant.nanoseconds)
            }
        }
    }
}
