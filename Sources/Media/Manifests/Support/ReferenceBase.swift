internal import Instrument
internal import InstrumentHTTP

/// The base of references in a manifest. Produces only `http` and `https` addresses.
struct ReferenceBase: Hashable, Sendable {
    var url: HTTPURL

    /// Returns the same address, counted against the limit of all addresses of a manifest.
    func resolve(_ reference: String, line: Int?, budget: inout Int) throws(ManifestError) -> HTTPURL {
        let result = try resolve(reference, line: line)
        budget -= result.path.utf8.count + reference.utf8.count
        guard budget >= 0 else {
            throw ManifestError(
                .limitExceeded,
                "the addresses of the manifest exceed the limit of their total length",
                line: line,
                url: url
            )
        }
        return result
    }

    /// Returns the address of a reference.
    /// - Throws: ``ManifestError`` without the reference, which may contain secrets.
    func resolve(_ reference: String, line: Int? = nil) throws(ManifestError) -> HTTPURL {
        if let url = try? url.resolving(reference) { return url }
        throw ManifestError(.referenceRefused, Self.refusal(of: reference), line: line, url: url)
    }

    private static func refusal(of reference: String) -> String {
        let scheme = reference.prefix { $0 != ":" && $0 != "/" }
        let isScheme =
            scheme.utf8.count < reference.utf8.count && scheme.utf8.count <= 20
            && scheme.utf8.allSatisfy(\.isLetter)
        let isWeb = ["http", "https"].contains(scheme.lowercased())
        let what = isScheme && !isWeb ? "to '\(scheme):'" : "that is no valid address"
        return "a reference \(what) is refused; only http and https addresses are followed"
    }
}
