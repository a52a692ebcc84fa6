import Foundation
import Instrument
import InstrumentTestKit

/// Random samples with everything that attributes can hold.
enum Samples {
    static func record(_ number: Int, _ text: String = "text") -> SampleRecord {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 9))
        let event = Event(
            .ping,
            tracker: TrackerID(1),
            time: time,
            attributes: ["n": .int(number), "text": .string(text)]
        )
        return SampleRecord(
            id: SampleID(log: 5, sequence: UInt64(number)),
            sequence: UInt64(number),
            sample: .event(event)
        )
    }

    static func batch(_ range: Range<Int>) -> Batch { Batch(records: range.map { record($0) }) }

    static func random(_ number: Int, _ generator: inout SeededGenerator) -> SampleRecord {
        let id = SampleID(log: generator.next(), sequence: UInt64(number))
        return SampleRecord(id: id, sequence: UInt64(number), sample: RandomSamples.sample(&generator))
    }
}
