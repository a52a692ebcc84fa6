/// Classes of ASCII bytes. No byte of a character beyond ASCII belongs to one of them.
extension UInt8 {
    /// Whether this byte is one of `0` to `9`.
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// Whether this byte is one of `a` to `z` or `A` to `Z`.
    package var isLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    /// The same letter in lower case; any other byte as it is.
    package var lowercase: UInt8 { isLetter ? self | 0x20 : self }

    /// Whether this byte is a hexadecimal digit, in either case.
    package var isHexDigit: Bool { hexDigitValue != nil }

    /// The value of a hexadecimal digit in either case; nil for any other byte.
    package var hexDigitValue: UInt8? {
        if isDigit { return self - UInt8(ascii: "0") }
        let lower = self | 0x20
        return UInt8(ascii: "a")...UInt8(ascii: "f") ~= lower ? lower - UInt8(ascii: "a") + 10 : nil
    }

    /// Whether this byte is white space in JSON (RFC 8259, section 2) and in XML (section 2.3): space, tab, line feed,
    /// carriage return.
    package var isWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
