internal import InstrumentText

/// Sizes and ratios as a configuration writes them.
extension DurationText {
    /// `100MB`, `1.5GB`, `512KiB`, `4096B` in bytes.
    static func size(_ text: String) -> Int64? {
        let units: [(String, Double)] = [
            ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("KB", 1e3), ("kB", 1e3), ("MB", 1e6),
            ("GB", 1e9),
            ("B", 1),
        ]
        for (unit, scale) in units where text.hasSuffix(unit) {
            guard let value = number(text.dropLast(unit.count)), value * scale < 1e15 else { return nil }
            return Int64(value * scale)
        }
        return nil
    }

    /// `1.5x`.
    static func ratio(_ text: String) -> Double? { text.hasSuffix("x") ? number(text.dropLast()) : nil }
}
