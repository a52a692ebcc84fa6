internal import Instrument
package import InstrumentJSON
internal import InstrumentWatch

/// From where an outage is seen: everywhere, or from some of the places whose monitors watch its streams.
package struct IncidentScope: Hashable, Sendable {
    /// What the monitor of a place sees.
    package enum State: String, Hashable, Sendable {
        /// A stream of the incident fails.
        case failing
        /// The streams of the incident do not fail.
        case fine
        /// The place sends nothing, so that nothing is known.
        case silent
    }

    package struct Place: Hashable, Sendable {
        package let name: String
        package let state: State
    }

    /// The places, sorted by name.
    package let places: [Place]

    /// - Parameters:
    ///   - failing: the places from which a stream fails.
    ///   - all: the places that watch the streams.
    ///   - silent: the places of which nothing is known.
    init(failing: Set<String>, all: Set<String>, silent: Set<String>) {
        places = all.union(failing).sorted().map { place in
            let state: State = failing.contains(place) ? .failing : silent.contains(place) ? .silent : .fine
            return Place(name: StreamOrigin.name(of: place), state: state)
        }
    }

    /// `everywhere (3 of 3 places)`, `from oslo only (1 of 3 places)`.
    package var text: String {
        let failing = places.filter { $0.state == .failing }.map(\.name)
        let silent = places.filter { $0.state == .silent }.map(\.name)
        let known = places.count - silent.count
        let more = silent.isEmpty ? "" : "; nothing is known from \(Self.list(silent))"
        guard places.count > 1 else { return "from \(Self.list(failing)), the only place" }
        let count = "(\(failing.count) of \(known) places\(more))"
        if failing.count == known, failing.count > 1 { return "everywhere \(count)" }
        return "from \(Self.list(failing))\(failing.count == 1 ? " only" : "") \(count)"
    }

    /// The places for the page.
    package var json: JSONValue {
        .array(places.map { ["name": .string($0.name), "state": .string($0.state.rawValue)] })
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        if names.count > 4 { return "\(names.prefix(3).joined(separator: ", ")) and \(names.count - 3) more" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}

extension IncidentBook {
    /// Notes that the monitor of a place watches a stream.
    mutating func watch(_ origin: StreamOrigin) { watchers[origin.stream, default: []].insert(origin.place) }

    /// Notes that the monitor of a place does not watch a stream any more.
    mutating func unwatch(_ origin: StreamOrigin) {
        watchers[origin.stream]?.remove(origin.place)
        if watchers[origin.stream]?.isEmpty == true { watchers[origin.stream] = nil }
    }

    /// The open incident that the same stream has in other places, and that is about this stream alone: one outage,
    /// however different it looks from each place.
    func incidentElsewhere(of signal: IncidentSignal) -> String? {
        guard let origin = signal.origin, let others = watchers[origin.stream] else { return nil }
        let names = others.subtracting([origin.place]).map {
            StreamOrigin(stream: origin.stream, place: $0).description
        }
        let candidates = Set(names.flatMap { places[$0] ?? [] }).filter { id in
            guard let incident = incidents[id], !incident.isClosed, !incident.isOwnNetwork else { return false }
            return incident.cause.realm == signal.cause.realm
                && incident.members.values.allSatisfy { !$0.isActive || $0.origin?.stream == origin.stream }
        }
        return order.first { candidates.contains($0) }
    }

    /// Brings the places of an incident up to date; a change is news for the log.
    func locate(_ incident: inout Incident, at now: Timestamp) {
        guard !watchers.isEmpty else { return }
        let origins = incident.members.values.filter(\.isActive).compactMap(\.origin)
        // Once all streams have recovered, the incident keeps the places that it had.
        guard !origins.isEmpty else { return }
        let all = Set(origins.map(\.stream)).reduce(into: Set<String>()) { $0.formUnion(watchers[$1] ?? []) }
        let scope = IncidentScope(failing: Set(origins.map(\.place)), all: all, silent: silent)
        guard scope != incident.scope else { return }
        incident.scope = scope
        incident.note("places", "fails \(scope.text)", at: now.wallTime)
    }
}
