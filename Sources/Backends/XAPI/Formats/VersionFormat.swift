internal import Instrument

/// Versions of one family: `1.0`, `1.0.3`, `1.0.3-rc1` (Semantic Versioning; xAPI 1.0.3, Data 2.4.10).
enum VersionFormat {
    static func isValid(_ text: String, family: String) -> Bool {
        if text == family { return true }
        guard text.hasPrefix(family + ".") else { return false }
        let parts = text.dropFirst(family.count + 1).split(
            separator: "+",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let release = parts.first?.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false) ?? []
        guard let patch = release.first, !patch.isEmpty, patch.utf8.allSatisfy(\.isDigit) else { return false }
        return (release.dropFirst() + parts.dropFirst()).allSatisfy(isLabel)
    }

    /// Letters, digits and hyphens in groups between dots.
    private static func isLabel(_ label: Substring) -> Bool {
        label.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { group in
            !group.isEmpty && group.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
    }
}
