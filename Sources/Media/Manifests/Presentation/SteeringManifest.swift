internal import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText

/// The answer of a steering server (rfc8216bis section 7.2; ETSI TS 103 998 uses the same format).
package struct SteeringManifest: Hashable, Sendable {
    /// A server that is not in the manifest: the content of another server under another host.
    package struct Clone: Hashable, Sendable {
        /// `BASE-ID`: the server whose addresses are copied.
        package var base: ContentLocations.Location.ID
        /// `ID`: the name of the new server.
        package var id: ContentLocations.Location.ID
        /// `HOST`; nil for the same host.
        package var host: String?
        /// `PARAMS`: parameters that replace those of the same name in the query.
        package var parameters: [String: String]

        /// The address of a resource at the new server; nil if the host or a parameter gives no valid address.
        package func address(of url: HTTPURL) -> HTTPURL? {
            let moved: HTTPURL? = if let host { url.moved(toHost: host) } else { url }
            return moved?.replacing(parameters)
        }
    }

    /// The most servers and clones that are read.
    static let mostEntries = 1000

    /// `TTL` in nanoseconds: when to ask again. At least one second; five minutes without a value.
    package var timeToLive: Int64
    /// `RELOAD-URI`: where to ask again; nil for the same address.
    package var reloadURL: HTTPURL?
    /// `PATHWAY-PRIORITY`: the names of the servers, the preferred one first.
    package var priority: [ContentLocations.Location.ID]
    /// `PATHWAY-CLONES`. Addresses of single variants (`PER-VARIANT-URIS`, `PER-RENDITION-URIS`) are not read.
    package var clones: [Clone]
    /// What breaks the format and does not keep players from using the rest; nil without a defect.
    package private(set) var defect: Defect?

    /// A defect: what was found, and what the format has instead.
    package struct Defect: Hashable, Sendable {
        package var found: String
        package var expected: String
    }

    /// Reads a steering manifest.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text.
    ///   - url: its address after redirects, the base of `RELOAD-URI`.
    /// - Throws: ``ManifestError`` with the code `malformed` for text that is no JSON object, or that has another
    ///   version than 1.
    package init(parsing bytes: [UInt8], at url: HTTPURL) throws(ManifestError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw ManifestError(.malformed, "the steering manifest must be JSON (\(error))", url: url)
        }
        guard value["VERSION"]?.int == 1 else {
            let found = value["VERSION"].map { "\($0)".excerpt() } ?? "none"
            throw ManifestError(.malformed, "the steering manifest must have the VERSION 1 (found \(found))", url: url)
        }
        let seconds = max(1, value["TTL"]?.number ?? 300)
        timeToLive = seconds < 1e9 ? Int64(seconds * 1_000_000_000) : .max
        reloadURL = value["RELOAD-URI"]?.string.flatMap { try? url.resolving($0) }
        let order = value["PATHWAY-PRIORITY"] ?? value["SERVICE-LOCATION-PRIORITY"]
        priority = order?.elements?.prefix(Self.mostEntries).compactMap(\.string) ?? []
        clones = value["PATHWAY-CLONES"]?.elements?.prefix(Self.mostEntries).compactMap { Clone($0) } ?? []
        defect = Self.defect(timeToLive: value["TTL"], order: order)
    }

    private static func defect(timeToLive: JSONValue?, order: JSONValue?) -> Defect? {
        guard let timeToLive else { return Defect(found: "no TTL", expected: "a TTL in seconds") }
        guard let seconds = timeToLive.number, seconds > 0 else {
            return Defect(found: "a TTL of \("\(timeToLive)".excerpt())", expected: "a TTL above 0 seconds")
        }
        guard let names = order?.elements, !names.isEmpty else {
            let found = order == nil ? "no PATHWAY-PRIORITY" : "a PATHWAY-PRIORITY without names"
            return Defect(found: found, expected: "a list of the names of servers in PATHWAY-PRIORITY")
        }
        var known: Set<String> = []
        for name in names.prefix(mostEntries) {
            guard let text = name.string else {
                return Defect(found: "\("\(name)".excerpt()) in PATHWAY-PRIORITY", expected: "names in quotes")
            }
            guard known.insert(text).inserted else {
                return Defect(found: "`\(text.excerpt())` twice in PATHWAY-PRIORITY", expected: "each server once")
            }
        }
        return nil
    }
}

extension HTTPURL {
    /// The address with parameters in place of those of the same name; nil if one is not valid.
    package func replacing(_ parameters: [String: String]) -> HTTPURL? {
        var result = self
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            guard let next = try? result.replacingParameter(name, with: "\(name)=\(value)") else { return nil }
            result = next
        }
        return result
    }
}

extension SteeringManifest.Clone {
    fileprivate init?(_ value: JSONValue) {
        guard let base = value["BASE-ID"]?.string, let id = value["ID"]?.string, !id.isEmpty else { return nil }
        let replacement = value["URI-REPLACEMENT"]
        var parameters: [String: String] = [:]
        if case .object(let members)? = replacement?["PARAMS"] {
            for (name, value) in members { if let text = value.string { parameters[name] = text } }
        }
        self.init(base: base, id: id, host: replacement?["HOST"]?.string, parameters: parameters)
    }
}
