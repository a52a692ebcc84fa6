internal import Instrument
internal import InstrumentJSON
internal import InstrumentQuality
internal import InstrumentText

/// Values of quality metrics as text and as JSON.
extension QualityValue {
    /// The value with its unit, for people.
    func text(in unit: QualityMetric.Unit) -> String {
        switch self {
        case .integer(let value): Self.text(Double(value), unit)
        case .ratio(let ratio): Self.text(ratio.double, unit)
        case .real(let value): Self.text(value, unit)
        case .labelled(let sums):
            sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                "\($0.key) \(Self.text(Double($0.value), unit))"
            }
            .joined(separator: ", ")
        case .distribution(let values):
            values.isEmpty
                ? "no values"
                : "median \(Self.text(Double(values.quantile(0.5) ?? 0), unit)), 95 % within "
                    + Self.text(Double(values.quantile(0.95) ?? 0), unit) + " (\(values.count))"
        case .record(let value): JSONValue(value).description
        }
    }

    /// A number with its unit; ratios as percentages, rates above ten thousand bit/s in kbit/s.
    static func text(_ value: Double, _ unit: QualityMetric.Unit) -> String {
        if unit == .ratio { return "\((100 * value).fixed(digits: 2)) %" }
        if unit == .bitsPerSecond, value >= 10_000 { return "\((value / 1000).fixed(digits: 0)) kbit/s" }
        let number = value == value.rounded() && abs(value) < 1e15 ? value.fixed(digits: 0) : value.fixed(digits: 3)
        return unit.description.isEmpty || unit == .score ? number : "\(number) \(unit)"
    }

    /// The value as JSON: exact integers, the quotient of a ratio, an object for labels, distributions and records.
    var json: JSONValue {
        switch self {
        case .integer(let value): .int(value)
        case .ratio(let ratio): .double(ratio.double)
        case .real(let value): .double(value)
        case .labelled(let sums): .object(sums.mapValues { .int($0) })
        case .distribution(let values): values.json(scale: 1)
        case .record(let value): JSONValue(value)
        }
    }
}

extension Distribution {
    /// Count, mean and quantiles.
    func json(scale: Int) -> JSONValue {
        let scaled = { (value: Int?) -> JSONValue in
            guard let value else { return .null }
            return scale == 1 ? .int(value) : .double(Double(value) / Double(scale))
        }
        return [
            "count": .int(count), "mean": mean.map { .double($0 / Double(scale)) } ?? .null, "min": scaled(minimum),
            "median": scaled(quantile(0.5)), "p95": scaled(quantile(0.95)), "max": scaled(maximum),
        ]
    }
}
