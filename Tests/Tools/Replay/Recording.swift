import Instrument

/// Recorded samples.
enum Recording {
    static func record(_ number: Int) -> SampleRecord { record(number, at: Int64(number)) }

    static func record(_ number: Int, log: UInt64 = 5, at milliseconds: Int64) -> SampleRecord {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(number) * 1_000_000),
            wallTime: WallTime(milliseconds: milliseconds)
        )
        let event = Event(.ping, tracker: TrackerID(1), time: time, attributes: ["n": .int(number)])
        let id = SampleID(log: log, sequence: UInt64(number))
        return SampleRecord(id: id, sequence: UInt64(number), sample: .event(event))
    }

    /// The samples of a part of two hundred.
    static func record(from part: Int) -> @Sendable (Int) -> SampleRecord { { record(part * 200 + $0) } }
}
