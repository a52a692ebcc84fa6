package import Instrument

/// Samples of sessions.
package enum SessionSamples {
    package static let log: UInt64 = 0x0123_4567_89AB_CDEF

    package static func id(_ number: Int) -> SampleID { SampleID(log: log, sequence: UInt64(number)) }

    package static func time(_ number: Int) -> Timestamp {
        Timestamp(
            instant: MonotonicInstant(nanoseconds: Int64(number) * 1_000_000),
            wallTime: WallTime(milliseconds: 1_767_225_600_000 + Int64(number))
        )
    }

    package static func event(_ number: Int, session: String? = nil, text: String = "film") -> Sample {
        var event = Event(.ping, tracker: TrackerID(0), time: time(number))
        event[.playbackId] = session
        event.attributes["number"] = .int(number)
        event.attributes["text"] = .string(text)
        return .event(event)
    }

    package static func record(_ number: Int, session: String? = nil, text: String = "film") -> SampleRecord {
        SampleRecord(
            id: id(number),
            sequence: UInt64(number),
            sample: event(number, session: session, text: text)
        )
    }

    package static func batch(_ numbers: Range<Int>, sessions: Int = 1) -> Batch {
        Batch(records: numbers.map { record($0, session: "session-\($0 % sessions)") })
    }
}
