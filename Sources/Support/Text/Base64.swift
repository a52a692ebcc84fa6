/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    /// The text of bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var output: [UInt8] = []
        var left = bytes[...]
        while !left.isEmpty {
            let group = left.prefix(3)
            left = left.dropFirst(3)
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                output.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The bytes of a text with padding; nil for any other text.
    package static func decode(_ text: String) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        guard text.utf8.count % 4 == 0, text.utf8.dropFirst(digits.count).allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            return nil
        }
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            (bits, count) = ((bits << 6 | value) & 0xFFFF, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
