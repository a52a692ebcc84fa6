/// How concurrent responses share a link.
public enum LinkSharing: String, Hashable, Sendable, CaseIterable {
    /// Equal shares at every instant (processor sharing), approximately as long-lived TCP connections share.
    case fair
    /// One response after another, in order of readiness; the simplest to compute by hand.
    case firstComeFirstServed = "fcfs"
}

/// A link and its active responses: a pure model in exact arithmetic.
///
/// Time is nanoseconds since the link's time zero. The state changes only when a response joins, leaves or completes,
/// each at its exact instant, so that the number of calls has no effect. An event that is reported late takes effect
/// at its instant, unless another event was handled since: then immediately after that event.
struct SharedLink: Sendable {
    private struct Flow {
        var number: Int
        var size: UInt128
        var served: UInt128 = 0
    }

    private(set) var schedule: DeliverySchedule
    private let sharing: LinkSharing
    private var flows: [Flow] = []
    private var time: Int64 = 0

    init(_ schedule: DeliverySchedule, sharing: LinkSharing) {
        self.schedule = schedule
        self.sharing = sharing
    }

    /// The number of active responses.
    var count: Int { flows.count }

    /// Adds a response of `bytes`.
    mutating func join(_ number: Int, bytes: Int, at now: Int64) {
        settle(at: now)
        guard bytes > 0 else { return }
        flows.append(Flow(number: number, size: UInt128(bytes) * DeliverySchedule.unitsPerByte))
    }

    /// Removes an incomplete response.
    mutating func leave(_ number: Int, at now: Int64) {
        guard flows.contains(where: { $0.number == number }) else { return }
        settle(at: now)
        flows.removeAll { $0.number == number }
    }

    /// Changes the schedule; time zero stays.
    mutating func follow(_ schedule: DeliverySchedule, at now: Int64) {
        settle(at: now)
        self.schedule = schedule
    }

    /// Returns the number of bytes of a response that have left; nil if it is complete.
    mutating func released(_ number: Int, at now: Int64) -> Int? {
        depart(until: now)
        guard let index = flows.firstIndex(where: { $0.number == number }) else { return nil }
        let units = flows[index].served + share(of: index, in: schedule.units(from: time, to: now))
        return Int(clamping: units / DeliverySchedule.unitsPerByte)
    }

    /// Returns the instant at which byte `count` of a response leaves, or at which the shares change before that; nil
    /// if, in the present state, never.
    mutating func wake(_ number: Int, forByte count: Int, at now: Int64) -> Int64? {
        depart(until: now)
        guard let index = flows.firstIndex(where: { $0.number == number }) else { return now }
        let wanted = min(flows[index].size, UInt128(max(0, count)) * DeliverySchedule.unitsPerByte)
        let missing = wanted > flows[index].served ? wanted - flows[index].served : 0
        let departure = nextDeparture?.time
        guard let load = load(for: missing, of: index) else { return departure }
        let instant = schedule.instant(after: load, from: time)
        return [instant, departure].compactMap(\.self).min()
    }

    /// Removes the responses that complete by `now`, each at its exact instant.
    private mutating func depart(until now: Int64) {
        while let next = nextDeparture, next.time <= now {
            serve(until: next.time)
            // The instant is rounded up: a response that completes at it is complete, even with a rest from rounding.
            flows.removeAll { $0.number == next.number || $0.served >= $0.size }
        }
    }

    private mutating func settle(at now: Int64) {
        depart(until: now)
        serve(until: max(time, now))
    }

    private mutating func serve(until instant: Int64) {
        let load = schedule.units(from: time, to: instant)
        for index in flows.indices {
            flows[index].served = min(flows[index].size, flows[index].served + share(of: index, in: load))
        }
        time = instant
    }

    private var nextDeparture: (number: Int, time: Int64)? {
        let first: Int? =
            switch sharing {
            case .firstComeFirstServed: flows.indices.first
            case .fair:
                flows.indices.min { flows[$0].size - flows[$0].served < flows[$1].size - flows[$1].served }
            }
        guard let index = first, let load = load(for: flows[index].size - flows[index].served, of: index),
            let instant = schedule.instant(after: load, from: time)
        else { return nil }
        return (flows[index].number, instant)
    }

    private func share(of index: Int, in load: UInt128) -> UInt128 {
        switch sharing {
        case .fair: load / UInt128(flows.count)
        case .firstComeFirstServed: index == 0 ? load : 0
        }
    }

    /// Returns the units that the link must carry before a response receives `units`; nil if it is not the response's
    /// turn.
    private func load(for units: UInt128, of index: Int) -> UInt128? {
        switch sharing {
        case .fair: units * UInt128(flows.count)
        case .firstComeFirstServed: index == 0 ? units : nil
        }
    }
}
