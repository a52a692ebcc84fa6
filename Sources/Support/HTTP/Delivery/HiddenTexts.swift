internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// Texts that are replaced by `…` wherever they stand, also in the forms in which a server may repeat them.
package struct HiddenTexts {
    /// Shorter texts are no secrets, and stand in every other word.
    private static var shortest: Int { 3 }

    private let patterns: [[UInt8]]

    package init(_ secrets: [String]) {
        let forms = secrets.filter { $0.utf8.count >= Self.shortest }.flatMap { secret in
            [
                secret, PercentCoding.encoded(secret),
                String(JSONValue.string(secret).description.dropFirst().dropLast()),
            ]
        }
        // The longest first: one may be part of another.
        patterns = Set(forms.map { Array($0.utf8) }).sorted { left, right in
            left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count > right.count
        }
    }

    /// By bytes: a mark that combines with the last letter would hide a secret from a comparison by characters.
    package func hide(in text: String) -> String {
        if patterns.isEmpty { return text }
        let bytes = patterns.reduce(Array(text.utf8)) { $0.replacing($1, with: Array("…".utf8)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPRequest {
    /// Names of users and clients up to this length are words, not keys; hiding them would hide what a server says.
    private static var longestPlainName: Int { 7 }

    /// The texts of this request that must not be repeated: secret headers and their parts, and secrets of the address.
    var secretTexts: [String] {
        var texts = headers.fields.filter(\.isSecret).flatMap { Self.parts(ofHeader: $0.value) }
        if let userInfo = url.userInfo {
            // The transport sends it as a header.
            texts += [userInfo, Base64.encode(PercentCoding.decoded(userInfo))] + Self.parts(ofPair: userInfo)
        }
        if let query = url.query {
            texts.append(query)
            for pair in query.split(separator: "&") {
                if let value = pair.split(at: "=").1, value.utf8.count > 3 { texts.append(String(value)) }
            }
        }
        return texts
            + texts.filter { $0.contains("%") }.map { String(decoding: PercentCoding.decoded($0), as: UTF8.self) }
    }

    /// The value, its token without the scheme, and user and password of a Basic one.
    private static func parts(ofHeader value: String) -> [String] {
        let words = value.split(separator: " ")
        guard words.count == 2, let token = words.last.map(String.init) else { return [value] }
        guard words[0].lowercased() == "basic", let pair = Base64.decode(token) else { return [value, token] }
        return [value, token, String(decoding: pair, as: UTF8.self)]
            + parts(ofPair: String(decoding: pair, as: UTF8.self))
    }

    private static func parts(ofPair pair: String) -> [String] {
        let parts = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first else { return [] }
        return (name.utf8.count > longestPlainName ? [name] : []) + parts.dropFirst()
    }
}
