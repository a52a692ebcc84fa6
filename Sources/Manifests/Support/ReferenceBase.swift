internal import Instrument
internal import InstrumentHTTP

/// What references in a manifest are relative to. Only `http` and `https` come out.
struct ReferenceBase: Hashable, Sendable {
    var url: HTTPURL

    /// The same, counted against what all addresses of a manifest may take.
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

    /// The address that a reference means.
    /// - Throws: ``ManifestError`` that does not repeat the reference, since that may hold secrets.
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
