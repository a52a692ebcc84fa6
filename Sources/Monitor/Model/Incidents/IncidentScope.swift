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

/// Which places watch a stream, and which of the places send no samples.
struct Watchers: Hashable, Sendable {
    /// The places that watch a stream, by its name there.
    private var places: [String: Set<String>] = [:]
    /// The places that send no samples.
    var silent: Set<String> = []

    /// Notes that the monitor of a place watches a stream.
    mutating func insert(_ origin: StreamOrigin) { places[origin.stream, default: []].insert(origin.place) }

    /// Notes that the monitor of a place does not watch a stream any more.
    mutating func remove(_ origin: StreamOrigin) {
        places[origin.stream]?.remove(origin.place)
        if places[origin.stream]?.isEmpty == true { places[origin.stream] = nil }
    }

    /// The names that a stream has in the other places that watch it.
    func names(elsewhere origin: StreamOrigin) -> [String] {
        (places[origin.stream] ?? []).subtracting([origin.place]).map {
            StreamOrigin(stream: origin.stream, place: $0).description
        }
    }

    /// From where the streams of these origins are seen to fail; nil without an origin, or where no place watches.
    func scope(of origins: [StreamOrigin]) -> IncidentScope? {
        guard !places.isEmpty, !origins.isEmpty else { return nil }
        let all = Set(origins.map(\.stream)).reduce(into: Set<String>()) { $0.formUnion(places[$1] ?? []) }
        return IncidentScope(failing: Set(origins.map(\.place)), all: all, silent: silent)
    }
}

extension Incident {
    /// Brings the places up to date; a change is news for the log. Once all streams have recovered, the incident keeps
    /// the places that it had.
    mutating func locate(by watchers: Watchers, at now: Timestamp) {
        let origins = members.values.filter(\.isActive).compactMap(\.origin)
        guard let found = watchers.scope(of: origins), found != scope else { return }
        scope = found
        note("places", "fails \(found.text)", at: now.wallTime)
    }
}
