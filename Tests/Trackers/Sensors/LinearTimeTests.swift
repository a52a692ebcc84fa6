import CostMeasurement
import Instrument
import InstrumentText
import Testing

@testable import InstrumentSensors

@Suite("Cost of gpsd's lines")
struct LinearTimeTests {
    @Test(
        "Reading gpsd's bytes costs time in proportion to their length",
        arguments: ["x", "\n", "{}\n", "{\"class\":\"TPV\",\"mode\":3,\"lat\":1,\"lon\":2,\"time\":\"2026\"}\n"]
    )
    func lines(piece: String) {
        let growth = CostGrowth.measure(from: 400) {
            Array(String(repeating: piece, count: $0).utf8)
        } _: { bytes in
            var (lines, reader) = (LineSplitter(maxLength: .max), GPSDReader())
            var rest = bytes[...]
            // In small pieces, as over a slow network.
            while !rest.isEmpty {
                for case .whole(let line) in lines.append(rest.prefix(7)) {
                    _ = reader.report(in: line, now: WallTime(milliseconds: 0))
                }
                rest = rest.dropFirst(7)
            }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Reading a time costs time in proportion to its length")
    func times() {
        let growth = CostGrowth.measure(from: 2_500) {
            "2026-11-21T10:00:00." + String(repeating: "1", count: $0) + "Z"
        } _: {
            _ = WallTime(rfc3339: $0)
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
