package import Instrument
package import InstrumentHTTP

/// The servers that have the same resources, and which of them a player or a check uses.
package struct LocationTable: Sendable {
    private static let mostClones = 16

    private var groups: [ContentLocations] = []
    /// The group of each playlist by its address in the manifest, for HLS, where locations are addresses of playlists;
    /// nil for DASH, where addresses begin with those of locations.
    private var playlists: [HTTPURL: ContentLocations]?
    /// The ranks of the servers that a steering server orders; the best is 0.
    private var ranks: [ContentLocations.Location.ID: Int] = [:]
    private var clones: [SteeringManifest.Clone] = []
    /// Servers that failed, with the end of their exclusion.
    private var excluded: [ContentLocations.Location.ID: MonotonicInstant] = [:]

    /// Creates a table without servers.
    package init() {}

    /// Takes the servers of a manifest. Exclusions, ranks and clones continue.
    package mutating func take(_ presentation: Presentation) {
        if presentation.format == .hls {
            let pairs = presentation.locations.compactMap { group in group.locations.first.map { ($0.base, group) } }
            playlists = Dictionary(pairs) { first, _ in first }
        } else {
            // The innermost level first: its addresses begin with those of the outer levels.
            groups = presentation.locations.sorted { Self.depth($0) > Self.depth($1) }
        }
        add(clones)
    }

    /// Takes the order of a steering server, with servers that the manifest does not have.
    package mutating func prefer(
        _ order: [ContentLocations.Location.ID],
        adding clones: [SteeringManifest.Clone] = []
    ) {
        ranks = Dictionary(order.enumerated().map { ($1, $0) }) { first, _ in first }
        let known = Set(self.clones.map(\.id))
        let new = clones.filter { !known.contains($0.id) }.prefix(max(0, Self.mostClones - self.clones.count))
        self.clones += new
        add(Array(new))
    }

    private mutating func add(_ clones: [SteeringManifest.Clone]) {
        for clone in clones {
            for index in groups.indices { groups[index].add(clone) }
            if let keys = playlists?.keys { for key in Array(keys) { playlists?[key]?.add(clone) } }
        }
    }

    /// The name of a server in use, to tell the steering server; nil without servers.
    package var locationInUse: ContentLocations.Location.ID? {
        let group = groups.first ?? playlists?.min { $0.key.description < $1.key.description }?.value
        return group.flatMap { server(of: $0) }?.id
    }

    /// Lets servers whose exclusion has ended be used again.
    package mutating func endExclusions(at now: MonotonicInstant) {
        if !excluded.isEmpty { excluded = excluded.filter { $0.value > now } }
    }

    /// The address, at the servers in use, of a resource or playlist that has the address `url` in the manifest.
    package func address(of url: HTTPURL) -> HTTPURL {
        levels(of: url).reduce(url) { url, group in
            guard let first = group.locations.first, let used = server(of: group), used.id != first.id else {
                return url
            }
            return moved(url, from: first.base, to: used) ?? url
        }
    }

    /// Excludes the server in use of a resource or playlist that has the address `url` in the manifest, if another
    /// server has it as well.
    ///
    /// - Parameter time: the duration of the exclusion; nil for the rest of the playback.
    /// - Returns: false if no other server is left.
    package mutating func leaveServer(of url: HTTPURL, for time: Duration?, now: MonotonicInstant) -> Bool {
        let end = time.map { now.advanced(by: $0) } ?? MonotonicInstant(nanoseconds: .max)
        /// Inner levels without another server: the preferred one and the failed one.
        var inner: [(first: ContentLocations.Location, failed: ContentLocations.Location)] = []
        for group in levels(of: url) {
            guard let first = group.locations.first, moved(url, from: first.base, to: first) != nil,
                let used = server(of: group)
            else { continue }
            guard group.locations.contains(where: { $0.id != used.id && excluded[$0.id] == nil }) else {
                inner.append((first, used))
                continue
            }
            for level in inner {
                excluded[level.failed.id] = end
                // Under another outer server, it has another address.
                excluded[level.first.id] = nil
            }
            excluded[used.id] = end
            return true
        }
        return false
    }

    /// The preferred server that is not excluded; the preferred one if all are.
    private func server(of group: ContentLocations) -> ContentLocations.Location? {
        let left = group.locations.filter { excluded[$0.id] == nil }
        guard !ranks.isEmpty else { return left.first ?? group.locations.first }
        let ranked = left.min { ranks[$0.id, default: .max] < ranks[$1.id, default: .max] }
        return ranked ?? group.locations.first
    }

    /// The groups that may have the address, the innermost first.
    private func levels(of url: HTTPURL) -> [ContentLocations] {
        guard let playlists else { return groups }
        return playlists[url].map { [$0] } ?? []
    }

    private func moved(_ url: HTTPURL, from base: HTTPURL, to other: ContentLocations.Location) -> HTTPURL? {
        guard playlists == nil else { return other.base }
        // The address keeps its query.
        return url.moved(from: base, to: other.base)?.replacing(other.parameters)
    }

    private static func depth(_ group: ContentLocations) -> Int { group.locations.first?.base.path.utf8.count ?? 0 }
}
