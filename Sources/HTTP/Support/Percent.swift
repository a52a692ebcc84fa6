package enum Percent {
    /// The bytes with `%xx` decoded.
    package static func decode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var left = Array(text.utf8)[...]
        while let byte = left.popFirst() {
            let digits = left.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isHexDigit),
                let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(decoded)
                left = left.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
