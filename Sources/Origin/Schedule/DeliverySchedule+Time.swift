internal import Instrument

// The load of a link is counted in units of one bit · nanosecond / second, so that rate × time is exact in integers:
// a byte is 8 · 10⁹ of them. 2^62 bit/s over 2^63 ns is 2^125, which 128 bits hold.

extension DeliverySchedule {
    /// A step as the arithmetic wants it.
    struct Entry: Hashable, Sendable {
        /// Nanoseconds since time zero at which the step starts.
        var start: Int64
        /// What the link has carried by then.
        var units: UInt128
        /// Bits a second.
        var rate: UInt128
    }

    static var unitsPerByte: UInt128 { 8_000_000_000 }

    /// The instant, since time zero, at which the last of `count` bytes has left whose sending starts at `start` on a link
    /// that carries nothing else; nil if the schedule stops before that and never continues.
    ///
    /// The inverse of the integral of the bandwidth, rounded up to a nanosecond.
    public func instant(ofByte count: Int, startingAt start: Duration) -> Duration? {
        let units = UInt128(max(0, count)) * Self.unitsPerByte
        return instant(after: units, from: max(0, start.nanoseconds)).map { .nanoseconds($0) }
    }

    /// How many whole bytes leave between two instants since time zero: the integral of the bandwidth.
    public func bytes(from start: Duration, to end: Duration) -> Int {
        let load = units(from: max(0, start.nanoseconds), to: max(0, end.nanoseconds))
        return Int(clamping: load / Self.unitsPerByte)
    }

    /// The bandwidth at an instant since time zero.
    public func bandwidth(at time: Duration) -> Bandwidth { steps[index(at: max(0, time.nanoseconds))].bandwidth }

    /// The latency of a request that arrives at an instant since time zero.
    public func latency(at time: Duration) -> Duration { steps[index(at: max(0, time.nanoseconds))].latency }

    /// What the link carries from one nanosecond to another.
    func units(from start: Int64, to end: Int64) -> UInt128 { end <= start ? 0 : carried(by: end) - carried(by: start) }

    /// The earliest nanosecond by which `units` more have been carried than at `start`; nil: never.
    func instant(after units: UInt128, from start: Int64) -> Int64? {
        if units == 0 { return start }
        // Without a limit it takes no time, not even the nanosecond that rounding up would make of it.
        return reached(units, from: start).map { max(start, $0) }
    }

    private func reached(_ units: UInt128, from start: Int64) -> Int64? {
        let (goal, overflow) = carried(by: start).addingReportingOverflow(units)
        if overflow { return nil }
        guard let round else { return Self.instant(of: goal, in: table, before: nil) }
        if round.units == 0 { return nil }
        // The round in which the goal is reached: with the last unit of a round it is that round's end.
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
        // The last step that starts short of the goal is the one in which it is reached.
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
            // A step that ends after 292 years holds.
            if overflow { return (table, nil) }
            units += rate * UInt128(duration)
            start = next
        }
        return (table, start > 0 ? (start, units) : nil)
    }
}
