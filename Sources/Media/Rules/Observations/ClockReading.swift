public import Instrument
public import InstrumentHTTP
internal import InstrumentManifests

/// The answer of a clock that an MPD names (`UTCTiming` with one of the HTTP schemes, ISO/IEC 23009-1 clause
/// 5.8.5.7).
public struct ClockReading: Sendable {
    /// What a clock answered.
    public enum Answer: Hashable, Sendable {
        /// The time.
        case time(WallTime)
        /// No time: the reason, without secrets.
        case failure(String)
    }

    /// The address of the clock.
    public var url: HTTPURL
    /// The answer.
    public var answer: Answer
    /// The time of this machine to which the answer belongs: the middle of the request.
    public var moment: WallTime

    /// Creates a reading.
    public init(url: HTTPURL, answer: Answer, moment: WallTime) {
        (self.url, self.answer, self.moment) = (url, answer, moment)
    }

    /// The nanoseconds by which the clock is ahead of this machine; nil without an answer.
    var offset: Int64? { if case .time(let time) = answer { time.nanoseconds(since: moment) } else { nil } }
}
