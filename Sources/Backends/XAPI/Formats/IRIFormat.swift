internal import Instrument

/// Absolute IRIs (RFC 3987): a scheme, followed by the characters that an IRI may contain.
///
/// Validation is best effort, as xAPI 1.0.3, Data 2.2.s4.b6 allows: scheme, characters, percent encoding, one fragment
/// at most, and a host for `http` and `https`.
enum IRIFormat {
    static func isValid(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text[..<colon]
        let rest = text[text.utf8.index(after: colon)...]
        guard isScheme(scheme), !rest.isEmpty, hasOnlyAllowedCharacters(rest), isPercentEncodingWhole(rest),
            rest.utf8.filter({ $0 == UInt8(ascii: "#") }).count < 2
        else { return false }
        return !["http", "https"].contains(scheme.lowercased()) || hasHost(rest)
    }

    /// RFC 3986, section 3.1.
    private static func isScheme(_ scheme: Substring) -> Bool {
        guard let first = scheme.utf8.first, first.isLetter else { return false }
        return scheme.utf8.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    private static func hasOnlyAllowedCharacters(_ text: Substring) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0...0x20, 0x7F...0xA0: false
            case 0x2028, 0x2029, 0xFFF0...0xFFFF: false
            default: !"<>\"{}|\\^`".unicodeScalars.contains(scalar)
            }
        }
    }

    /// Two hexadecimal digits follow every `%`.
    static func isPercentEncodingWhole(_ text: Substring) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false).dropFirst()
            .allSatisfy { $0.count >= 2 && $0.prefix(2).allSatisfy(\.isHexDigit) }
    }

    private static func hasHost(_ rest: Substring) -> Bool {
        guard rest.hasPrefix("//") else { return false }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return !host.isEmpty && !host.hasPrefix(":")
    }
}
