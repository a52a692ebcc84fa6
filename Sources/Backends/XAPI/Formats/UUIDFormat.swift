internal import Instrument

/// UUIDs in their standard form: 8, 4, 4, 4 and 12 hexadecimal digits.
///
/// Version and variant are not checked: the specification's own example (Data 2.4,
/// `12345678-1234-5678-1234-567812345678`) is not of variant 2.
///
/// Source: xAPI 1.0.3, Data 2.4.1 and 4.4; XAPI-00027, XAPI-00029.
enum UUIDFormat {
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        var place = 0
        for byte in text.utf8 {
            let isHyphenPlace = place == 8 || place == 13 || place == 18 || place == 23
            guard isHyphenPlace ? byte == UInt8(ascii: "-") : byte.isHexDigit else { return false }
            place += 1
        }
        return true
    }
}

/// Texts of hexadecimal digits, in either case.
enum Hexadecimal {
    /// Whether a text has one of these lengths and consists of hexadecimal digits alone.
    static func isText(_ text: String, lengths: [Int]) -> Bool {
        lengths.contains(text.utf8.count) && text.utf8.allSatisfy(\.isHexDigit)
    }
}
