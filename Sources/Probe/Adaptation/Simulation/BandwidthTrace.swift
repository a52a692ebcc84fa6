public import Instrument

/// What a network can carry over time: constant in each period, and from the beginning again after the last.
///
/// All arithmetic is in whole nanoseconds and bits, so that a simulation gives the same result everywhere.
public struct BandwidthTrace: Hashable, Sendable {
    /// A time in which nothing changes.
    public struct Period: Hashable, Sendable {
        /// How long it is.
        public var duration: Duration
        /// What the network carries, bit/s; 0 is an outage.
        public var bitrate: Int
        /// From a request to its first byte.
        public var latency: Duration

        /// Creates a period.
        public init(duration: Duration, bitrate: Int, latency: Duration = .zero) {
            self.duration = duration
            self.bitrate = bitrate
            self.latency = latency
        }
    }

    /// Its name in tables.
    public let name: String
    /// The periods; each is longer than zero, and one of them carries something.
    public let periods: [Period]
    /// Until when each period lasts, ns.
    private let ends: [Int64]
    /// What was carried by the end of each period, in bits × 10⁹.
    private let works: [Int128]

    /// Creates a trace; periods that take no time are left out.
    ///
    /// - Throws: ``BandwidthTraceError`` if a value is negative, if nothing is ever carried, or if it is longer than
    ///   292 years.
    public init(name: String, periods: [Period]) throws(BandwidthTraceError) {
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

    /// How long it is until it begins again.
    public var duration: Duration { .nanoseconds(ends.last ?? 0) }

    /// What it carries on average, bit/s.
    public var averageBitrate: Int {
        guard let end = ends.last, let work = works.last, end > 0 else { return 0 }
        return Int(clamping: work / Int128(end))
    }

    /// What it carries at an instant, bit/s.
    public func bitrate(at instant: MonotonicInstant) -> Int { period(at: instant.nanoseconds).bitrate }
}

extension BandwidthTrace {
    /// From a request at this time to its first byte, ns.
    func latency(at time: Int64) -> Int64 { period(at: time).latency.nanoseconds }

    /// What can have been carried until a time, in bits × 10⁹.
    func work(until time: Int64) -> Int128 {
        guard let cycle = ends.last, let whole = works.last, time > 0 else { return 0 }
        let rest = time % cycle
        let index = Self.firstIndex(in: ends) { $0 > rest }
        let before = index > 0 ? (end: ends[index - 1], work: works[index - 1]) : (end: 0, work: 0)
        return Int128(time / cycle) * whole + before.work + Int128(periods[index].bitrate) * Int128(rest - before.end)
    }

    /// The first time by which so much can have been carried; saturates.
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

    /// By bisection; the last index if the condition holds nowhere.
    private static func firstIndex<Value>(in values: [Value], where isReached: (Value) -> Bool) -> Int {
        var low = 0
        var high = max(0, values.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if isReached(values[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// A trace that cannot be used, and why.
public struct BandwidthTraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: Hashable, Sendable {
        /// Nothing is in it, or nothing is ever carried.
        case empty
        /// A value that cannot be.
        case invalidValue
        /// Text that is not of the format.
        case syntax
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong, with the place.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What is wrong, with the place.
    public var description: String { message }
}
