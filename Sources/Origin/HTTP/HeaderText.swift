/// What may stand in a head.
enum HeaderText {
    /// Whether a value cannot end its line: visible ASCII and spaces only.
    static func isSafe(_ value: String) -> Bool { value.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// A path as it may stand in `Location` and in a playlist: what is not allowed there, percent-encoded (RFC 3986, 3.3).
    static func encoded(path: String) -> String {
        var text = ""
        for byte in path.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80,
                scalar.properties.isAlphabetic || "0123456789-._~!$&'()*+,;=:@/".unicodeScalars.contains(scalar)
            {
                text.unicodeScalars.append(scalar)
            } else {
                text += "%" + hex(byte)
            }
        }
        return text
    }

    /// A path without percent-encoding; nil if that is broken, or hides a zero.
    static func decoded(path: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = path.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }

    private static func hex(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.count == 1 ? "0" + text : text
    }
}
