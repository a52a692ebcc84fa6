internal import InstrumentText

/// Internet media types with their parameters (RFC 2045, section 5.1): `text/plain; charset=utf-8`.
///
/// Source: xAPI 1.0.3, Data 2.4.11; XAPI-00105.
enum MediaTypeFormat {
    static func isValid(_ text: String) -> Bool {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let type = parts.first else { return false }
        let names = type.trimmingSpaces.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy(isToken) else { return false }
        return isQuoted(text) || parts.dropFirst().allSatisfy(isParameter)
    }

    /// A quoted value may contain any character, so the text cannot simply be split.
    private static func isQuoted(_ text: String) -> Bool { text.contains("\"") }

    private static func isParameter(_ parameter: Substring) -> Bool {
        let pair = parameter.trimmingSpaces.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return pair.count == 2 && pair.allSatisfy(isToken)
    }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"()<>@,;:\\\"/[]?=".utf8.contains($0) }
    }
}
