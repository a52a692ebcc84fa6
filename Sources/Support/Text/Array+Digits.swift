extension [UInt8] {
    /// Appends an integer in decimal digits, without making a text of it.
    package mutating func append(decimal number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var magnitude = number.magnitude
        // 2^63 has 19 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = 20
            repeat {
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: magnitude % 10) + UInt8(ascii: "0")
                magnitude /= 10
            } while magnitude > 0
            append(contentsOf: digits[start...])
        }
    }

    /// Appends the UTF-8 bytes of a text.
    @inline(__always)
    package mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
