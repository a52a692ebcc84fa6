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
}
