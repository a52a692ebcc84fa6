extension Double {
    /// The number with a fixed number of digits behind the point, rounded to the nearest, half away from zero. A number
    /// that is not finite or too large has the form of `description`.
    package func fixed(digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        guard let number = Int(exactly: (self * scale).rounded()) else { return description }
        return number.decimal(places: digits)
    }
}

extension BinaryInteger {
    /// The number divided by a power of ten: 12345 with three places is `12.345`.
    package func decimal(places: Int) -> String {
        if places <= 0 { return String(self) }
        let text = magnitude.padded(places + 1)
        return (self < 0 ? "-" : "") + text.dropLast(places) + "." + text.suffix(places)
    }
}
