/// `mailto:` and one address (xAPI 1.0.3, Data 2.4.2.3; XAPI-00038).
///
/// The address may consist of the dot-atoms of RFC 5322, characters beyond ASCII and percent encoding, without
/// quotes and header fields.
enum MailboxFormat {
    static func isValid(_ text: String) -> Bool {
        guard text.hasPrefix("mailto:") else { return false }
        let parts = text.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = parts.first, let domain = parts.last else { return false }
        return isLocal(local) && isDomain(domain)
    }

    private static func isLocal(_ local: Substring) -> Bool {
        !local.isEmpty && IRIFormat.isPercentEncodingWhole(local)
            && local.unicodeScalars.allSatisfy { isOfWord($0) || ".!$%&'*+/=^`{|}~".unicodeScalars.contains($0) }
    }

    private static func isDomain(_ domain: Substring) -> Bool {
        domain.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.unicodeScalars.allSatisfy { isOfWord($0) && $0 != "_" }
        }
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        default: scalar.value > 0xA0 && !scalar.properties.isWhitespace
        }
    }
}
