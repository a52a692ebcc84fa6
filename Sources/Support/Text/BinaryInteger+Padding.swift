extension BinaryInteger {
    /// The digits with zeros in front of them, at least `width` in all.
    package func padded(_ width: Int, radix: Int = 10, uppercase: Bool = false) -> String {
        let digits = String(self, radix: radix, uppercase: uppercase)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
