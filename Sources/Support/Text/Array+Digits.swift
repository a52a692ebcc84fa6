extension [UInt8] {
    /// Appends an integer in decimal digits, without making a text of it.
    package mutating func append(decimal number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let count = DecimalDigits.count(of: number.magnitude)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { digits in
            // The memory is not empty: a number has at least one digit.
            guard let start = digits.baseAddress else { return }
            DecimalDigits.write(number.magnitude, endingAt: start + count)
            append(contentsOf: UnsafeBufferPointer(digits))
        }
    }

    /// Appends the UTF-8 bytes of a text.
    @inline(__always)
    package mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
