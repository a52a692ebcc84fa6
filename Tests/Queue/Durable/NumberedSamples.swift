import Instrument
import InstrumentDurableQueue

/// Samples that carry a number, so that a test can tell which of them arrived.
enum NumberedSamples {
    static func sample(_ number: Int) -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 1))
        let attributes: Attributes = ["number": .int(number), "text": "some text that takes room"]
        return .event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))
    }

    static func numbers(_ records: [SampleRecord]) -> [Int] {
        records.compactMap { $0.sample.attributes[AttributeKey<Int>("number")] }
    }

    /// Leases and settles all remaining samples of a backend.
    static func drain(_ store: DurableStore, _ backend: BackendName = "one") -> [SampleRecord] {
        var all: [SampleRecord] = []
        while case let records = store.next(for: backend, maxCount: 100, maxBytes: .max), let last = records.last {
            all += records
            store.settle(backend, through: last.sequence, dead: [:])
        }
        return all
    }
}
