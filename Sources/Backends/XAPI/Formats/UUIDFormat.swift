internal import Instrument

/// UUIDs in their standard form: 8, 4, 4, 4 and 12 hexadecimal digits.
///
/// Version and variant are not checked: the specification's own example (Data 2.4,
/// `12345678-1234-5678-1234-567812345678`) is not of variant 2.
///
/// Source: xAPI 1.0.3, Data 2.4.1 and 4.4; XAPI-00027, XAPI-00029.
enum UUIDFormat {
    static func isValid(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isValid($0) }
    }

    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count == 36 else { return false }
        for place in bytes.indices {
            let isHyphenPlace = hyphens & 1 << UInt64(place) != 0
            guard isHyphenPlace ? bytes[place] == UInt8(ascii: "-") : isHexDigit(bytes[place]) else { return false }
        }
        return true
    }

    /// A bit for each place of a hyphen.
    private static var hyphens: UInt64 { 1 << 8 | 1 << 13 | 1 << 18 | 1 << 23 }

    @inline(__always)
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
    }
}

/// Texts of hexadecimal digits, in either case.
enum Hexadecimal {
    /// Whether a text has one of these lengths and consists of hexadecimal digits alone.
    static func isText(_ text: String, lengths: [Int]) -> Bool {
        lengths.contains(text.utf8.count) && text.utf8.allSatisfy(\.isHexDigit)
    }
}
