extension TerminalText {
    /// Creates text of valid JSON in which characters that are unsafe for terminals are written as `\uXXXX` (RFC 8259
    /// section 7): the value stays the same. White space between the values stays as it is.
    package init(json bytes: [UInt8]) {
        // JSON has such characters inside strings alone, where each may be written as an escape; controls below 0x20
        // are escaped in valid JSON, and stand outside of strings as white space.
        let text = String(decoding: bytes, as: UTF8.self)
        let isUnsafe = { (scalar: Unicode.Scalar) in scalar.value >= 0x7F && scalar.isUnsafeForTerminals }
        guard bytes.contains(where: { $0 >= 0x7F }), text.unicodeScalars.contains(where: isUnsafe) else {
            self.init(trusted: text)
            return
        }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) { result += scalar.jsonEscape } else { result.unicodeScalars.append(scalar) }
        }
        self.init(trusted: result)
    }
}
