internal import Instrument

/// Sends beacons at the same time, those of one lane in order.
struct BeaconPass: Sendable {
    /// Beacons of one lane.
    private struct Group: Sendable {
        let server: String
        var beacons: [Beacon]
    }

    let maxAtOnce: Int
    let send: @Sendable (Beacon) async -> BeaconResult

    /// A server that does not answer has at most half of the connections.
    private var mostOfServer: Int { max(1, maxAtOnce / 2) }

    /// Sends each lane's beacons up to the first that has to wait; returns the results of the beacons that were tried.
    func run(_ beacons: [Beacon]) async -> [SampleID: BeaconResult] {
        var waiting = Self.groups(beacons)
        return await withTaskGroup(of: (server: String, results: [SampleID: BeaconResult]).self) { tasks in
            var (all, active, running) = ([SampleID: BeaconResult](), [String: Int](), 0)
            while true {
                while running < maxAtOnce, let group = next(&waiting, active) {
                    (active[group.server, default: 0], running) = (active[group.server, default: 0] + 1, running + 1)
                    tasks.addTask { (group.server, await sendInOrder(group.beacons)) }
                }
                guard let found = await tasks.next() else { return all }
                (active[found.server, default: 0], running) = (active[found.server, default: 1] - 1, running - 1)
                all.merge(found.results) { _, new in new }
            }
        }
    }

    /// The groups of each server, in the order of their first beacons.
    private static func groups(_ beacons: [Beacon]) -> [(server: String, groups: ArraySlice<Group>)] {
        var (groups, places) = ([Group](), [Beacon.Lane: Int]())
        for beacon in beacons {
            if let place = places[beacon.lane] {
                groups[place].beacons.append(beacon)
            } else {
                places[beacon.lane] = groups.count
                groups.append(Group(server: beacon.server, beacons: [beacon]))
            }
        }
        var (servers, order) = ([String: [Group]](), [String]())
        for group in groups {
            if servers[group.server] == nil { order.append(group.server) }
            servers[group.server, default: []].append(group)
        }
        return order.map { ($0, (servers[$0] ?? [])[...]) }
    }

    /// The next group of the first server that may have another connection; that server comes last from now on.
    private func next(
        _ waiting: inout [(server: String, groups: ArraySlice<Group>)],
        _ active: [String: Int]
    ) -> Group? {
        let place = waiting.firstIndex { active[$0.server, default: 0] < mostOfServer }
        guard let place else { return nil }
        var chosen = waiting.remove(at: place)
        let group = chosen.groups.popFirst()
        if !chosen.groups.isEmpty { waiting.append(chosen) }
        return group
    }

    private func sendInOrder(_ beacons: [Beacon]) async -> [SampleID: BeaconResult] {
        var results: [SampleID: BeaconResult] = [:]
        for beacon in beacons {
            let result = await send(beacon)
            results[beacon.id] = result
            if !result.isFinal { break }
        }
        return results
    }
}
