/// The encodings of XML documents that are read (XML 1.0, section 4.3.3 and appendix F): UTF-8, UTF-16, Latin-1 and
/// Windows-1252.
enum MarkupEncoding {
    private static let names8: Set = ["utf-8", "utf8", "us-ascii", "ascii"]
    /// A document of single bytes that calls itself UTF-16 is UTF-8: servers whose texts are UTF-16 in memory write it
    /// so, and browsers, which decode before they parse, read it.
    private static let names16: Set = ["utf-16", "utf16", "utf-16le", "utf-16be", "ucs-2"]
    private static let latinNames: Set = ["iso-8859-1", "iso_8859-1", "latin1", "latin-1"]
    private static let windowsNames: Set = ["windows-1252", "cp1252"]
    /// The characters of the bytes from 0x80 to 0x9F, which are controls in Latin-1.
    private static let windowsCharacters: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{0192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{02C6}",
        "\u{2030}", "\u{0160}", "\u{2039}", "\u{0152}", "\u{8D}", "\u{017D}", "\u{8F}", "\u{90}", "\u{2018}",
        "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}", "\u{02DC}", "\u{2122}", "\u{0161}",
        "\u{203A}", "\u{0153}", "\u{9D}", "\u{017E}", "\u{0178}",
    ]

    /// The document in UTF-8; nil in an unknown encoding, and if a byte does not belong to the encoding.
    static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        if let isBig = bigEndian(bytes) { return utf8(ofUTF16: bytes, isBigEndian: isBig) }
        switch declared(bytes) {
        case nil: break
        case let name? where names8.contains(name) || names16.contains(name): break
        case let name? where latinNames.contains(name):
            return Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
        case let name? where windowsNames.contains(name):
            let scalars = bytes.map { 0x80...0x9F ~= $0 ? windowsCharacters[Int($0) - 0x80] : Unicode.Scalar($0) }
            return Array(String(String.UnicodeScalarView(scalars)).utf8)
        default: return nil
        }
        return String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
    }

    /// The encoding that the XML declaration names, in lower case.
    private static func declared(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes.prefix(200), as: UTF8.self).lowercased()
        let prolog = text.drop { $0 == "\u{FEFF}" || $0.isWhitespace }.prefix { $0 != ">" }
        // Without a declaration, an attribute may be called `contentEncoding`.
        guard prolog.hasPrefix("<?xml") else { return nil }
        return prolog.split(separator: "encoding").dropFirst().first?.split { "=\"' \t\r\n?".contains($0) }.first
            .map(String.init)
    }

    /// Whether UTF-16 has its high bytes first; nil for other encodings.
    private static func bigEndian(_ bytes: [UInt8]) -> Bool? {
        guard bytes.count >= 2 else { return nil }
        return switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF), (0, 0x3C): true
        case (0xFF, 0xFE), (0x3C, 0): false
        default: nil
        }
    }

    private static func utf8(ofUTF16 bytes: [UInt8], isBigEndian: Bool) -> [UInt8]? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: 0, to: bytes.count, by: 2).map { place in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
    }
}
