package import InstrumentHTTP

/// The servers that have the same resources.
///
/// DASH: the `BaseURL` elements of one level (ISO/IEC 23009-1 section 5.6.5). HLS: redundant streams and pathways (RFC
/// 8216 section 4.3.4.2, rfc8216bis section 4.4.6.2).
package struct ContentLocations: Hashable, Sendable {
    /// One of the servers.
    package struct Location: Hashable, Sendable, Identifiable {
        /// The name of the server: `serviceLocation`, `PATHWAY-ID`, else the address without secrets.
        package var id: String
        /// The address with which the addresses of the resources begin: a directory, or the address of one resource.
        package var base: HTTPURL
        /// Parameters that replace those of the same name in the queries of the resources' addresses (`PARAMS` of a
        /// cloned server).
        package var parameters: [String: String] = [:]

        /// Creates a location.
        package init(id: String, base: HTTPURL) {
            self.id = id
            self.base = base
        }
    }

    /// The servers in the order of the manifest's preference. The addresses in the presentation are those of the first.
    package var locations: [Location]

    /// Creates a list of at least two servers, or of one that a steering server may clone; nil for fewer.
    ///
    /// A name that occurs twice gets a number, so that each server can be named.
    init?(_ locations: [Location], isSteered: Bool = false) {
        guard locations.count > (isSteered ? 0 : 1) else { return nil }
        var names: [String: Int] = [:]
        self.locations = locations.map { location in
            let count = names[location.id, default: 0] + 1
            names[location.id] = count
            return count == 1 ? location : Location(id: "\(location.id) (\(count))", base: location.base)
        }
    }

    /// Adds a server whose addresses are made of those of another; does nothing without the other.
    package mutating func add(_ clone: SteeringManifest.Clone) {
        guard !locations.contains(where: { $0.id == clone.id }),
            let original = locations.first(where: { $0.id == clone.base }),
            let address = clone.address(of: original.base)
        else { return }
        var location = Location(id: clone.id, base: address)
        location.parameters = original.parameters.merging(clone.parameters) { $1 }
        locations.append(location)
    }

    /// The addresses with which those of each server begin: without the end of the path that another server has as
    /// well. Empty where the addresses do not tell the servers apart.
    package var directories: [HTTPURL] {
        let paths = locations.map { $0.base.path.split(separator: "/", omittingEmptySubsequences: false) }
        let found = zip(locations.indices, locations).compactMap { place, location -> HTTPURL? in
            let others = paths.indices.filter { $0 != place }
            let shared = others.map { zip(paths[place].reversed(), paths[$0].reversed()).prefix { $0 == $1 }.count }
            guard let shared = shared.max() else { return nil }
            // The last part is the name of a file, or nothing behind the slash of a directory.
            let path = paths[place].dropLast(max(1, shared)).map { $0 + "/" }.joined()
            return try? location.base.resolving(path.isEmpty ? "/" : path)
        }
        return Set(found).count == locations.count ? found : []
    }
}
