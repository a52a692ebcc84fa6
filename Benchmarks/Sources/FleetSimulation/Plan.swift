/// What the players of a shard do, in the order of time.
struct Plan: Sendable {
    struct Step: Sendable {
        let time: Int64
        let deed: Deed
        /// The player's visit.
        let visit: Int
    }

    struct Place: Sendable {
        let player: Int
        /// The number of the visit among those of its player.
        let number: Int
        let fault: ClockFault
        /// Positions among the steps.
        var first = Int.max
        var last = 0
    }

    private(set) var steps: [Step] = []
    private(set) var visits: [Place] = []

    /// - Parameter shard: takes every player whose number leaves this rest.
    init(_ model: FleetModel, shard: Shard) {
        for player in stride(from: shard.number, to: model.players, by: shard.count) {
            let (fault, visits) = model.visits(of: player)
            for (number, visit) in visits.enumerated() {
                let place = self.visits.count
                self.visits.append(Place(player: player, number: number, fault: fault))
                steps += visit.deeds.map { Step(time: $0.time, deed: $0.deed, visit: place) }
            }
        }
        let order = steps.indices.sorted { (steps[$0].time, $0) < (steps[$1].time, $1) }
        steps = order.map { steps[$0] }
        for (position, step) in steps.enumerated() {
            visits[step.visit].first = min(visits[step.visit].first, position)
            visits[step.visit].last = position
        }
    }

    /// The visits that a kill in a step has cut.
    func isCut(_ visit: Int, at step: Int) -> Bool { visits[visit].first <= step && visits[visit].last > step }
}

/// The number of a shard, from 0, and the number of shards.
struct Shard: Sendable {
    let number: Int
    let count: Int
}
