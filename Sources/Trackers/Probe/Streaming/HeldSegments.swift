internal import Instrument
internal import InstrumentTransport

/// Segments that were requested together with the initialization sections that they need
/// (``PlayerProfile/InitializationLoading/withSegment``): a segment that arrives first waits here.
struct HeldSegments: Sendable {
    /// A segment that has arrived, and its request.
    struct Held: Sendable {
        fileprivate let plan: Int
        let response: ResourceResponse
        let fetching: Fetching
    }

    private var held: [StreamRole: Held] = [:]
    private var sections: [StreamRole: (plan: Int, arrival: MonotonicInstant)] = [:]

    /// Whether the segment of a plan waits.
    func holds(_ role: StreamRole, _ plan: TrackLoading.Plan) -> Bool { held[role]?.plan == plan.number }

    /// The arrivals of a segment's bytes as media: none is before the arrival of its initialization section.
    func playable(_ arrivals: ArrivalLog, of role: StreamRole, _ plan: TrackLoading.Plan) -> ArrivalLog {
        guard let section = sections[role], section.plan == plan.number else { return arrivals }
        return arrivals.delayed(until: section.arrival)
    }

    mutating func hold(
        _ response: ResourceResponse,
        _ fetching: Fetching,
        _ role: StreamRole,
        _ plan: TrackLoading.Plan
    ) {
        held[role] = Held(plan: plan.number, response: response, fetching: fetching)
    }

    /// Records the arrival of the section of a plan's segment.
    ///
    /// - Returns: the segment, if it waits.
    mutating func sectionArrived(at instant: MonotonicInstant, _ role: StreamRole, _ plan: TrackLoading.Plan) -> Held? {
        sections[role] = (plan.number, instant)
        return take(role, plan)
    }

    /// Takes out the segment of a plan; nil if none waits.
    mutating func take(_ role: StreamRole, _ plan: TrackLoading.Plan) -> Held? {
        holds(role, plan) ? held.removeValue(forKey: role) : nil
    }

    /// Discards what waits for a track.
    mutating func discard(_ role: StreamRole) { held[role] = nil }
}
