internal import Instrument

/// The number formats of playlists and MPDs.
package enum DecimalText {
    /// A decimal-integer (RFC 8216 section 4.2) that is not negative; saturates.
    package static func integer(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return text.utf8.reduce(0) { $0.saturatingMultiply(10).saturatingAdd(Int64($1 & 15)) }
    }

    /// Returns the nanoseconds of a decimal number of seconds, exact to the nanosecond (further digits are cut off)
    /// and saturating. Accepts exponents, but neither words (`nan`, `inf`) nor hexadecimal.
    package static func nanoseconds(_ text: some StringProtocol) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = text.utf8.dropFirst(isNegative || text.hasPrefix("+") ? 1 : 0)
        guard let first = digits.first, first.isDigit || first == UInt8(ascii: ".") else { return nil }
        var (value, places, hasDigit) = (Int64(0), -1, false)
        for byte in digits {
            if byte == UInt8(ascii: "."), places < 0 {
                places = 0
            } else if byte.isDigit {
                hasDigit = true
                guard places < 9 else { continue }
                value = value.saturatingMultiply(10).saturatingAdd(Int64(byte & 15))
                if places >= 0 { places += 1 }
            } else {
                return byte | 0x20 == UInt8(ascii: "e") ? scientific(text) : nil
            }
        }
        guard hasDigit else { return nil }
        for _ in max(places, 0)..<9 { value = value.saturatingMultiply(10) }
        return isNegative ? -value : value
    }

    /// The duration of an `EXTINF` whose value has a decimal comma (`2,000,`), with a point; nil for other values.
    ///
    /// A title in digits that ends with a comma looks the same.
    package static func durationWithComma(_ text: some StringProtocol) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].allSatisfy({ $0 <= 0x20 }) else { return nil }
        guard parts[..<2].allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }) else { return nil }
        return String(decoding: parts[0], as: UTF8.self) + "." + String(decoding: parts[1], as: UTF8.self)
    }

    /// A number with a fraction; finite.
    package static func double(_ text: some StringProtocol) -> Double? {
        guard text.utf8.allSatisfy({ $0.isDigit || "+-.eE".utf8.contains($0) }), let value = Double(String(text)),
            value.isFinite
        else { return nil }
        return value
    }

    private static func scientific(_ text: some StringProtocol) -> Int64? {
        double(text).flatMap(Int64.init(nanosecondsOf:))
    }

    /// Returns the bytes of a hexadecimal-sequence (`0x…`), at most 16, padded on the left with zeros to 16.
    static func sixteenBytes(hexadecimal text: some StringProtocol) -> [UInt8]? {
        guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
        let digits = text.utf8.dropFirst(2).compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count - 2, 1...32 ~= digits.count else { return nil }
        let padded = [UInt8](repeating: 0, count: 32 - digits.count) + digits
        return stride(from: 0, to: 32, by: 2).map { padded[$0] << 4 | padded[$0 + 1] }
    }
}
