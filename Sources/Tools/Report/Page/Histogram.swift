internal import InstrumentText

/// The values of a measure in bins of equal width, with round bounds.
struct Histogram: Hashable {
    /// A range of values.
    struct Bin: Hashable {
        /// The lower bound, which belongs to the bin.
        let low: Double
        /// The upper bound, which does not; nil for the last bin, which takes all greater values.
        let high: Double?
        /// The number of sessions in this set and in the other one, with their weights.
        var count: Int
        var otherCount: Int
    }

    private static let (fewestBins, mostBins) = (8, 16)

    let measure: Measure
    private(set) var bins: [Bin] = []
    /// The number of values of each set, with their weights.
    let count: Int
    let otherCount: Int

    /// Divides the values of one set, or of two into the same bins.
    init(_ measure: Measure, _ values: [WeightedValue], _ others: [WeightedValue] = []) {
        self.measure = measure
        (count, otherCount) = (values.weight, others.weight)
        let sorted = (values + others).map(\.value).sorted()
        guard let last = sorted.last else { return }
        // The highest two per cent may be far away: they share the last bin.
        let high = sorted[min(sorted.count - 1, sorted.count * 98 / 100)]
        let step = Self.roundStep(above: max(high, Self.smallestRange(of: measure)) / Double(Self.mostBins - 1))
        let binCount = max(Self.fewestBins, min(Self.mostBins, Int(min(last / step, 1e6)) + 1))
        bins = (0..<binCount).map { index in
            let isLast = index == Self.mostBins - 1
            return Bin(
                low: Double(index) * step,
                high: isLast ? nil : Double(index + 1) * step,
                count: 0,
                otherCount: 0
            )
        }
        for entry in values { bins[Self.position(of: entry.value, step, bins.count)].count += entry.weight }
        for entry in others { bins[Self.position(of: entry.value, step, bins.count)].otherCount += entry.weight }
    }

    private static func position(of value: Double, _ step: Double, _ count: Int) -> Int {
        min(count - 1, max(0, Int(max(0, min(value / step, 1e6)))))
    }

    private static func smallestRange(of measure: Measure) -> Double { measure == .rebufferRatio ? 1 : 0.1 }

    /// The smallest of 1, 2 and 5 times a power of ten that is at least `value`.
    private static func roundStep(above value: Double) -> Double {
        var power = 1e-6
        while power * 10 <= value { power *= 10 }
        for factor in [1.0, 2, 5, 10] where power * factor >= value * (1 - 1e-9) { return power * factor }
        return power * 10
    }

    /// `0.2–0.4 s`, `≥ 3 s`.
    func label(of bin: Bin) -> String {
        guard let high = bin.high else { return "≥ \(short(bin.low)) \(measure.unit)" }
        return "\(short(bin.low))–\(short(high)) \(measure.unit)"
    }

    /// A bound without needless zeros.
    func short(_ value: Double) -> String {
        var text = value.fixed(digits: 4)
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    /// The share of a bin among the values of its set, and of the other set.
    func shares(of bin: Bin) -> (this: Double, other: Double) {
        (Double(bin.count) / Double(max(1, count)), Double(bin.otherCount) / Double(max(1, otherCount)))
    }
}
