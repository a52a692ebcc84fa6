internal import Instrument

extension TrackLoading {
    /// What a track does between two segments.
    ///
    /// ```
    ///           ┌────────── finish, skip, dropPlan ──────────┐
    ///           ▼                                            │
    ///  ┌▶ looking ───── choose ─────▶ planned ── await ──▶ awaiting
    ///  │     │                           │                   │
    ///  │     └────────── end ──────▶ ended ◀───── end ───────┘
    ///  └────────── move ───────────────┘
    /// ```
    ///
    /// | from | to |
    /// |---|---|
    /// | looking | looking, planned, ended |
    /// | planned | looking, planned, awaiting, ended |
    /// | awaiting | looking, planned, awaiting, ended |
    /// | ended | looking, ended |
    enum Phase: Hashable, Sendable {
        /// Looks whether the buffer has room for the next segment, and chooses its rendition.
        case looking(Look)
        /// The rendition is chosen; next come the segment and its request.
        case planned(Plan)
        /// The segment does not exist yet. The player chooses again with its look at `next`, or, if that is nil, when
        /// the segment exists.
        case awaiting(Plan, next: MonotonicInstant?)
        /// The last segment was loaded.
        case ended

        enum Name: String, CaseIterable { case looking, planned, awaiting, ended }

        /// The phases that may follow each phase; the table in the documentation.
        static let transitions: [Name: Set<Name>] = [
            .looking: [.looking, .planned, .ended],
            .planned: [.looking, .planned, .awaiting, .ended],
            .awaiting: [.looking, .planned, .awaiting, .ended],
            .ended: [.looking, .ended],
        ]

        var name: Name {
            switch self {
            case .looking: .looking
            case .planned: .planned
            case .awaiting: .awaiting
            case .ended: .ended
            }
        }

        var look: Look? {
            if case .looking(let look) = self { look } else { nil }
        }

        var plan: Plan? {
            switch self {
            case .planned(let plan), .awaiting(let plan, _): plan
            case .looking, .ended: nil
            }
        }

        /// Changes the plan; the phase stays.
        mutating func changePlan(_ change: (inout Plan) -> Void) {
            switch self {
            case .planned(var plan):
                change(&plan)
                self = .planned(plan)
            case .awaiting(var plan, let next):
                change(&plan)
                self = .awaiting(plan, next: next)
            case .looking, .ended: break
            }
        }
    }
}
