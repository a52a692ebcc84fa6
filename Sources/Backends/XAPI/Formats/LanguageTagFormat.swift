internal import Instrument

/// Language tags in the format of RFC 5646, section 2.1, without a look at the registry.
///
/// Source: xAPI 1.0.3, Data 2.2.s4.b2 and 4.2; XAPI-00013, XAPI-00121.
enum LanguageTagFormat {
    static func isValid(_ text: String) -> Bool {
        isPlain(text) || matchesGrammar(text)
    }

    /// The general rule.
    static func matchesGrammar(_ text: String) -> Bool {
        if irregular.contains(text.lowercased()) { return true }
        let subtags = text.split(separator: "-", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard subtags.allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(isLetterOrDigit) }) else {
            return false
        }
        var tag = Tag(rest: subtags[...])
        return tag.isPrivate() || tag.isLanguage()
    }

    private static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isPlain($0) }
    }

    /// Whether a tag is a language of two or three letters, alone or with a region of two letters, such as `en-GB`.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var (hyphen, place) = (-1, 0)
        for byte in bytes {
            if byte == UInt8(ascii: "-"), hyphen < 0, place == 2 || place == 3 {
                hyphen = place
            } else if !byte.isLetter {
                return false
            }
            place += 1
            if place > 6 { return false }
        }
        return hyphen < 0 ? place == 2 || place == 3 : place - hyphen == 3
    }

    /// Tags that were registered before the grammar (RFC 5646, section 2.2.8).
    private static let irregular: Set<String> = [
        "en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo",
        "i-pwn", "i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl", "sgn-ch-de",
    ]

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    /// The remaining subtags, in lower case.
    private struct Tag {
        var rest: ArraySlice<String>

        /// `x-…` alone.
        mutating func isPrivate() -> Bool { rest.first == "x" && privateUse() && rest.isEmpty }

        mutating func isLanguage() -> Bool {
            guard let language = take(where: { (2...8).contains($0.utf8.count) && Self.isLetters($0) }) else {
                return false
            }
            if language.utf8.count < 4 { _ = takeAll(atMost: 3) { $0.utf8.count == 3 && Self.isLetters($0) } }
            _ = take { $0.utf8.count == 4 && Self.isLetters($0) }
            _ = take { $0.utf8.count == 2 && Self.isLetters($0) || $0.utf8.count == 3 && Self.isDigits($0) }
            let variants = takeAll { $0.utf8.count >= 5 || $0.utf8.count == 4 && Self.isDigits($0.prefix(1)) }
            guard Set(variants).count == variants.count, extensions() else { return false }
            if rest.first == "x", !privateUse() { return false }
            return rest.isEmpty
        }

        /// Singletons, each only once and followed by a subtag.
        private mutating func extensions() -> Bool {
            var singletons: Set<String> = []
            while let singleton = take(where: { $0.utf8.count == 1 && $0 != "x" }) {
                let isNew = singletons.insert(singleton).inserted
                if !isNew || takeAll(where: { $0.utf8.count >= 2 }).isEmpty { return false }
            }
            return true
        }

        private mutating func privateUse() -> Bool {
            rest = rest.dropFirst()
            return !takeAll { _ in true }.isEmpty
        }

        private mutating func take(where isWanted: (String) -> Bool) -> String? {
            guard let subtag = rest.first, isWanted(subtag) else { return nil }
            rest = rest.dropFirst()
            return subtag
        }

        private mutating func takeAll(atMost limit: Int = .max, where isWanted: (String) -> Bool) -> [String] {
            var taken: [String] = []
            while taken.count < limit, let subtag = take(where: isWanted) { taken.append(subtag) }
            return taken
        }

        private static func isLetters(_ text: String) -> Bool { !text.utf8.contains(where: \.isDigit) }
        private static func isDigits(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy(\.isDigit) }
    }
}
