package import Instrument
package import InstrumentHTTP
internal import InstrumentManifests

/// The answer of a clock that an MPD names (`UTCTiming` with one of the HTTP schemes, ISO/IEC 23009-1 clause
/// 5.8.5.7).
package struct ClockReading: Sendable {
    /// What a clock answered.
    package enum Answer: Hashable, Sendable {
        /// The time.
        case time(WallTime)
        /// No time: the reason, without secrets.
        case failure(String)
    }

    /// The address of the clock.
    package var url: HTTPURL
    /// The answer.
    package var answer: Answer
    /// The time of this machine to which the answer belongs: the middle of the request.
    package var moment: WallTime

    /// Creates a reading.
    package init(url: HTTPURL, answer: Answer, moment: WallTime) {
        (self.url, self.answer, self.moment) = (url, answer, moment)
    }

    /// The nanoseconds by which the clock is ahead of this machine; nil without an answer.
    var offset: Int64? { if case .time(let time) = answer { time.nanoseconds(since: moment) } else { nil } }
}
