/// How responses that are under way at once share a link.
public enum LinkSharing: String, Hashable, Sendable, CaseIterable {
    /// All get the same share at every moment (processor sharing), as long-lived TCP connections roughly do.
    case fair
    /// One after another, in the order in which they got ready; the simplest to compute by hand.
    case firstComeFirstServed = "fcfs"
}

/// A link and the responses that are under way on it: a pure model in exact arithmetic.
///
/// Time is nanoseconds since the link's time zero. The state changes only when a response joins, leaves or is through, each at
/// its own instant, so that it does not matter how often anyone looks. An event that is reported late happens at its instant
/// nevertheless, unless another event was handled since: then right after that event.
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

    /// How many are under way.
    var count: Int { flows.count }

    /// A response of `bytes` gets ready.
    mutating func join(_ number: Int, bytes: Int, at now: Int64) {
        settle(at: now)
        guard bytes > 0 else { return }
        flows.append(Flow(number: number, size: UInt128(bytes) * DeliverySchedule.unitsPerByte))
    }

    /// A response is given up.
    mutating func leave(_ number: Int, at now: Int64) {
        guard flows.contains(where: { $0.number == number }) else { return }
        settle(at: now)
        flows.removeAll { $0.number == number }
    }

    /// From now on the link keeps another schedule, whose time zero is the same.
    mutating func follow(_ schedule: DeliverySchedule, at now: Int64) {
        settle(at: now)
        self.schedule = schedule
    }

    /// How many bytes of a response have left; nil if it is through.
    mutating func released(_ number: Int, at now: Int64) -> Int? {
        depart(until: now)
        guard let index = flows.firstIndex(where: { $0.number == number }) else { return nil }
        let units = flows[index].served + share(of: index, in: schedule.units(from: time, to: now))
        return Int(clamping: units / DeliverySchedule.unitsPerByte)
    }

    /// When byte `count` of a response has left, or the shares change before that; nil: never, as things are.
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

    /// Takes those out that are through by `now`, each at its own instant.
    private mutating func depart(until now: Int64) {
        while let next = nextDeparture, next.time <= now {
            serve(until: next.time)
            // The instant is rounded up: who leaves at it is through, whatever the arithmetic has left over.
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

    /// What the link has to carry for a response to get `units`; nil if it is not its turn.
    private func load(for units: UInt128, of index: Int) -> UInt128? {
        switch sharing {
        case .fair: units * UInt128(flows.count)
        case .firstComeFirstServed: index == 0 ? units : nil
        }
    }
}
