package import Instrument

/// A network's bandwidth over time: constant in each period, repeated after the last period.
///
/// All arithmetic uses whole nanoseconds and bits, so that a simulation gives the same result on every machine.
package struct BandwidthTrace: Hashable, Sendable {
    /// A time of constant bandwidth.
    package struct Period: Hashable, Sendable {
        /// The duration.
        package var duration: Duration
        /// The bandwidth, bit/s; 0 is an outage.
        package var bitrate: Int
        /// The time from a request to its first byte.
        package var latency: Duration

        /// Creates a period.
        package init(duration: Duration, bitrate: Int, latency: Duration = .zero) {
            self.duration = duration
            self.bitrate = bitrate
            self.latency = latency
        }
    }

    /// The name in tables.
    package let name: String
    /// The periods; each is longer than zero, and at least one has a bandwidth above zero.
    package let periods: [Period]
    /// The end of each period, ns.
    private let ends: [Int64]
    /// The bits carried by the end of each period, × 10⁹.
    private let works: [Int128]

    /// Creates a trace; periods without duration are ignored.
    ///
    /// - Throws: ``BandwidthTraceError`` if a value is negative, if no period has a bandwidth, or if the trace is
    ///   longer than 292 years.
    package init(name: String, periods: [Period]) throws(BandwidthTraceError) {
        var ends: [Int64] = []
        var works: [Int128] = []
        var kept: [Period] = []
        var end: Int64 = 0
        var work: Int128 = 0
        for (index, period) in periods.enumerated() {
            guard period.duration >= .zero, period.bitrate >= 0, period.latency >= .zero else {
                throw BandwidthTraceError(.invalidValue, "period \(index + 1) has a negative value")
            }
            let duration = period.duration.nanoseconds
            if duration == 0 { continue }
            let (sum, overflow) = end.addingReportingOverflow(duration)
            if overflow { throw BandwidthTraceError(.invalidValue, "the trace is longer than 292 years") }
            end = sum
            work += Int128(period.bitrate) * Int128(duration)
            kept.append(period)
            ends.append(end)
            works.append(work)
        }
        guard work > 0 else { throw BandwidthTraceError(.empty, "the trace never carries anything") }
        self.name = name
        self.periods = kept
        self.ends = ends
        self.works = works
    }

    /// The duration until the trace repeats.
    package var duration: Duration { .nanoseconds(ends.last ?? 0) }

    /// The average bandwidth, bit/s.
    package var averageBitrate: Int {
        guard let end = ends.last, let work = works.last, end > 0 else { return 0 }
        return Int(clamping: work / Int128(end))
    }

    /// Returns the bandwidth at an instant, bit/s.
    package func bitrate(at instant: MonotonicInstant) -> Int { period(at: instant.nanoseconds).bitrate }
}

extension BandwidthTrace {
    /// Returns the time from a request at this instant to its first byte, ns.
    func latency(at time: Int64) -> Int64 { period(at: time).latency.nanoseconds }

    /// Returns the bits that can be carried until a time, × 10⁹.
    func work(until time: Int64) -> Int128 {
        guard let cycle = ends.last, let whole = works.last, time > 0 else { return 0 }
        let rest = time % cycle
        let index = Self.firstIndex(in: ends) { $0 > rest }
        let before = index > 0 ? (end: ends[index - 1], work: works[index - 1]) : (end: 0, work: 0)
        return Int128(time / cycle) * whole + before.work + Int128(periods[index].bitrate) * Int128(rest - before.end)
    }

    /// Returns the first time by which this work can be carried; saturates.
    func time(ofWork work: Int128) -> Int64 {
        guard let cycle = ends.last, let whole = works.last, work > 0 else { return 0 }
        let cycles = (work - 1) / whole
        let rest = work - cycles * whole
        let index = Self.firstIndex(in: works) { $0 >= rest }
        let before = index > 0 ? (end: ends[index - 1], work: works[index - 1]) : (end: 0, work: 0)
        let rate = Int128(max(1, periods[index].bitrate))
        return Int64(clamping: cycles * Int128(cycle) + Int128(before.end) + (rest - before.work + rate - 1) / rate)
    }

    private func period(at time: Int64) -> Period {
        let rest = max(0, time) % max(1, ends.last ?? 1)
        return periods[Self.firstIndex(in: ends) { $0 > rest }]
    }

    /// The first index that meets the condition; the last index if none does.
    private static func firstIndex<Value>(in values: [Value], where isReached: (Value) -> Bool) -> Int {
        max(0, min(values.partitioningIndex(where: isReached), values.count - 1))
    }
}

/// The reason why a trace cannot be used.
package struct BandwidthTraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error; an open set.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        package let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The trace is empty, or never carries a byte.
        package static let empty = Code("empty")
        /// A value is out of range.
        package static let invalidValue = Code("invalidValue")
        /// The text does not follow the format.
        package static let syntax = Code("syntax")
    }

    /// The kind of the error.
    package let code: Code
    /// The message: the value that was found, and its place.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message: the value that was found, and its place.
    package var description: String { message }
}
