/// Percent-encoding of addresses (RFC 3986, section 2.1), byte by byte.
package enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The text with each byte as `%XX` that is neither unreserved (RFC 3986, section 2.3) nor in `others`.
    ///
    /// - Parameter others: ASCII characters that stay as they are. With `%` among them, escapes that are already there
    ///   stay.
    package static func encoded(_ text: some StringProtocol, keeping others: String = "") -> String {
        func stays(_ byte: UInt8) -> Bool {
            byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte) || others.utf8.contains(byte)
        }
        if text.utf8.allSatisfy(stays) { return String(text) }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if stays(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of the text with each `%XX` decoded. A `%` without two hexadecimal digits behind it stays.
    package static func decoded(_ text: some StringProtocol) -> [UInt8] {
        decode(text, isStrict: false) ?? []
    }

    /// The bytes of the text with each `%XX` decoded; nil if two hexadecimal digits are missing behind a `%`.
    package static func strictlyDecoded(_ text: some StringProtocol) -> [UInt8]? { decode(text, isStrict: true) }

    private static func decode(_ text: some StringProtocol, isStrict: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(\.hexDigitValue)
            if digits.count == 2 {
                bytes.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else if isStrict {
                return nil
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
