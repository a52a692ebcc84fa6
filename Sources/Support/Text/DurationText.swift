/// Durations and decimal numbers as people write them in options and configurations.
package enum DurationText {
    /// Seconds of each unit. `ms` comes before `s`, which ends it.
    private static let units: [(name: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400),
    ]

    /// A decimal number that is not negative, without an exponent, of at most 20 characters: `1`, `0.5`, `1.`; nil for
    /// any other text.
    package static func number(_ text: some StringProtocol) -> Double? {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= 20, bytes.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            bytes.first != 0x2E, let value = Double(text), value.isFinite
        else { return nil }
        return value
    }

    /// `500ms`, `30s`, `1.5m`, `2h`, `7d` in seconds; nil for any other text, and from a billion seconds on.
    package static func seconds(_ text: String) -> Double? {
        for unit in units where text.hasSuffix(unit.name) {
            guard let value = number(text.dropLast(unit.name.count)) else { continue }
            return value * unit.seconds < 1e9 ? value * unit.seconds : nil
        }
        return nil
    }

    /// The same as a duration.
    package static func duration(_ text: String) -> Duration? { seconds(text).map { .seconds($0) } }
}
