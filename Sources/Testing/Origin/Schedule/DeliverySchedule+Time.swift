internal import Instrument

// The load of a link is counted in units of one bit · nanosecond / second, so that rate × time is exact in integers:
// a byte is 8 · 10⁹ units. 2^62 bit/s over 2^63 ns is 2^125, which fits into 128 bits.

extension DeliverySchedule {
    /// A step in integer units.
    struct Entry: Hashable, Sendable {
        /// Nanoseconds since time zero at which the step starts.
        var start: Int64
        /// The units that the link has carried by then.
        var units: UInt128
        /// Bits per second.
        var rate: UInt128
    }

    static var unitsPerByte: UInt128 { 8_000_000_000 }

    /// Returns the instant, since time zero, at which the last of `count` bytes leaves, if sending starts at `start`
    /// and the link carries nothing else; nil if the schedule stops before that permanently.
    ///
    /// The inverse of the integral of the bandwidth, rounded up to a nanosecond.
    public func instant(ofByte count: Int, startingAt start: Duration) -> Duration? {
        let units = UInt128(max(0, count)) * Self.unitsPerByte
        return instant(after: units, from: max(0, start.nanoseconds)).map { .nanoseconds($0) }
    }

    /// Returns the number of whole bytes that leave between two instants since time zero: the integral of the
    /// bandwidth.
    package func bytes(from start: Duration, to end: Duration) -> Int {
        let load = units(from: max(0, start.nanoseconds), to: max(0, end.nanoseconds))
        return Int(clamping: load / Self.unitsPerByte)
    }

    /// Returns the bandwidth at an instant since time zero.
    package func bandwidth(at time: Duration) -> Bandwidth { steps[index(at: max(0, time.nanoseconds))].bandwidth }

    /// Returns the latency of a request that arrives at an instant since time zero.
    package func latency(at time: Duration) -> Duration { steps[index(at: max(0, time.nanoseconds))].latency }

    /// Returns the units that the link carries between two nanoseconds.
    func units(from start: Int64, to end: Int64) -> UInt128 { end <= start ? 0 : carried(by: end) - carried(by: start) }

    /// Returns the earliest nanosecond by which the link has carried `units` since `start`; nil if never.
    func instant(after units: UInt128, from start: Int64) -> Int64? {
        if units == 0 { return start }
        // Without a limit, sending takes no time, not even the nanosecond that rounding up would give.
        return reached(units, from: start).map { max(start, $0) }
    }

    private func reached(_ units: UInt128, from start: Int64) -> Int64? {
        let (goal, overflow) = carried(by: start).addingReportingOverflow(units)
        if overflow { return nil }
        guard let round else { return Self.instant(of: goal, in: table, before: nil) }
        if round.units == 0 { return nil }
        // The round in which the goal is reached: for the last unit of a round, the end of that round.
        let rounds = (goal - 1) / round.units
        let (base128, isBeyond) = rounds.multipliedReportingOverflow(by: UInt128(round.length))
        guard !isBeyond, let base = Int64(exactly: base128),
            let within = Self.instant(of: goal - rounds * round.units, in: table, before: round.length)
        else { return nil }
        let (sum, tooFar) = base.addingReportingOverflow(within)
        return tooFar ? nil : sum
    }

    private func carried(by time: Int64) -> UInt128 {
        guard let round else { return Self.carried(by: time, in: table) }
        let (rounds, rest) = time.quotientAndRemainder(dividingBy: round.length)
        return UInt128(rounds) * round.units + Self.carried(by: rest, in: table)
    }

    private func index(at time: Int64) -> Int {
        let time = round.map { time % $0.length } ?? time
        return table.lastIndex { $0.start <= time } ?? 0
    }

    private static func carried(by time: Int64, in table: [Entry]) -> UInt128 {
        guard let entry = table.last(where: { $0.start <= time }) else { return 0 }
        return entry.units + entry.rate * UInt128(time - entry.start)
    }

    private static func instant(of goal: UInt128, in table: [Entry], before end: Int64?) -> Int64? {
        // The goal is reached in the last step that starts before it.
        guard let entry = table.last(where: { $0.units < goal }), entry.rate > 0 else { return nil }
        let isUnlimited = entry.rate == UInt128(Bandwidth.unlimited.bitsPerSecond)
        let wait = isUnlimited ? 0 : (goal - entry.units + entry.rate - 1) / entry.rate
        guard let wait = Int64(exactly: wait) else { return nil }
        let (time, overflow) = entry.start.addingReportingOverflow(wait)
        if overflow { return nil }
        return end.map { min($0, time) } ?? time
    }

    static func tabulate(_ steps: [Step], repeats: Bool) -> ([Entry], (length: Int64, units: UInt128)?) {
        var table: [Entry] = []
        var start: Int64 = 0
        var units: UInt128 = 0
        for (index, step) in steps.enumerated() {
            let rate = UInt128(step.bandwidth.bitsPerSecond)
            table.append(Entry(start: start, units: units, rate: rate))
            guard let duration = step.duration?.nanoseconds else { return (table, nil) }
            if index == steps.count - 1, !repeats { return (table, nil) }
            let (next, overflow) = start.addingReportingOverflow(duration)
            // A step that ends after 292 years has no end.
            if overflow { return (table, nil) }
            units += rate * UInt128(duration)
            start = next
        }
        return (table, start > 0 ? (start, units) : nil)
    }
}
