import Instrument
import InstrumentBackends
import InstrumentMonitor
import Testing

@testable import InstrumentCommands

@Suite("Samples that a source returns")
struct SampleIntakeTests {
    private func line(_ number: UInt64, log: UInt64 = 1) -> [UInt8] {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        let event = Event(.ping, tracker: TrackerID(0), time: time)
        let record = SampleRecord(id: SampleID(log: log, sequence: number), sequence: number, sample: .event(event))
        return Array(JSONLines.encode([record]).dropLast())
    }

    @Test("Each sample is passed once, however often and in whatever order it comes")
    func doubles() {
        var intake = SampleIntake()
        let first = intake.batch(of: [line(1), line(0), line(1), line(1, log: 2)], isCaughtUp: false)
        #expect(first.records.map(\.sequence) == [1, 0, 1] && first.refused == [.double: 1] && !first.isCaughtUp)
        let second = intake.batch(of: [line(0), line(1), line(2)], isCaughtUp: true)
        #expect(second.records.map(\.sequence) == [2] && second.refused == [.double: 2] && second.isCaughtUp)
    }

    @Test("What is no sample is counted, and the samples behind it are passed")
    func damaged() {
        var intake = SampleIntake()
        let long = Array("{\"id\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 2 << 20)
        let lines = [
            [], Array("no json".utf8), Array("[1]".utf8), [0xFF, 0x00], long, Array(line(0).dropLast(9)), line(0),
        ]
        let batch = intake.batch(of: lines, isCaughtUp: true)
        #expect(batch.records.count == 1 && batch.refused == [.damaged: 6])
    }

    @Test("A text in a query of ClickHouse cannot end its literal")
    func literals() {
        #expect(ClickHouseFeed.literal("o'neil\\") == "'o\\'neil\\\\'")
        #expect(ClickHouseFeed.literal("") == "''")
    }
}
