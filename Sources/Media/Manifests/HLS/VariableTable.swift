internal import InstrumentHTTP
internal import InstrumentText

/// The variables of a playlist (draft-pantos-hls-rfc8216bis section 4.3 and 4.4.2.3).
struct VariableTable: Hashable, Sendable {
    private(set) var values: [String: String] = [:]
    private let limits: ManifestLimits
    /// The number of bytes that substitutions may still produce: a short name for a long value, used many times,
    /// amplifies the input.
    private var budget: Int

    init(limits: ManifestLimits) {
        self.limits = limits
        budget = limits.addressBytes
    }

    /// Adds the definition of an `EXT-X-DEFINE`.
    mutating func define(
        _ attributes: AttributeList,
        url: HTTPURL,
        imports: [String: String],
        line: Int
    ) throws(ManifestError) {
        guard values.count < limits.variants else {
            throw ManifestError(
                .limitExceeded,
                "more than \(limits.variants) variables are defined",
                line: line,
                url: url
            )
        }
        let (name, value) = try Self.definition(attributes, url: url, imports: imports, line: line)
        guard values.updateValue(value, forKey: name) == nil else {
            throw ManifestError(.malformed, "the variable '\(name.excerpt())' is defined twice", line: line, url: url)
        }
    }

    private static func definition(
        _ attributes: AttributeList,
        url: HTTPURL,
        imports: [String: String],
        line: Int
    ) throws(ManifestError) -> (String, String) {
        if let name = attributes["NAME"], let value = attributes["VALUE"] { return (name, value) }
        if let name = attributes["QUERYPARAM"] {
            if let value = url.queryValue(named: name) { return (name, value) }
            let message = "EXT-X-DEFINE wants a query parameter that the playlist's address does not have"
            throw ManifestError(.malformed, message, line: line, url: url)
        }
        if let name = attributes["IMPORT"] {
            if let value = imports[name] { return (name, value) }
            let message = "EXT-X-DEFINE imports '\(name.excerpt())', which the multivariant playlist does not define"
            throw ManifestError(.malformed, message, line: line, url: url)
        }
        let found = attributes["NAME"] == nil ? "none" : "NAME without VALUE"
        let message = "`EXT-X-DEFINE` must have NAME with VALUE, IMPORT or QUERYPARAM (found \(found))"
        throw ManifestError(.malformed, message, line: line, url: url)
    }

    /// Returns the text with `{$name}` replaced. Values are not substituted again.
    mutating func substitute(_ text: String, line: Int) throws(ManifestError) -> String {
        // A byte is found faster than a text, and few playlists have variables.
        guard text.utf8.contains(UInt8(ascii: "{")), text.contains("{$") else { return text }
        var (result, rest) = ("", text[...])
        while let open = rest.range(ofReference: "{$") {
            result += rest[..<open.lowerBound]
            let inner = rest[open.upperBound...]
            guard let close = inner.firstIndex(of: "}"), let value = values[String(inner[..<close])] else {
                throw ManifestError(
                    .malformed,
                    "a variable is used without a definition; add an `EXT-X-DEFINE`",
                    line: line
                )
            }
            result += value
            budget -= value.utf8.count
            guard budget >= 0 else {
                let message = "variables make more than \(limits.addressBytes) bytes of the playlist altogether"
                throw ManifestError(.limitExceeded, message, line: line)
            }
            guard result.utf8.count <= limits.lineBytes else {
                throw ManifestError(.limitExceeded, "the substitution of variables makes the line too long", line: line)
            }
            rest = inner[inner.index(after: close)...]
        }
        return result + rest
    }
}

extension Substring {
    /// Returns the first position of a two-byte mark.
    fileprivate func range(ofReference mark: String) -> Range<Index>? {
        var start = startIndex
        while let index = self[start...].firstIndex(of: "{") {
            let next = self.index(after: index)
            if self[index...].hasPrefix(mark) { return index..<self.index(after: next) }
            start = next
        }
        return nil
    }
}
