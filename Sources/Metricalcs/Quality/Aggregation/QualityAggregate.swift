internal import Instrument

/// The metrics of many sessions in one dialect: exact sums and mergeable distributions.
///
/// Sessions, devices and hours add up: merging the aggregates of parts gives the aggregate of the whole, bit for bit,
/// in any order. Each session counts with its weight, so that sums of sampled sessions are unbiased.
public struct QualityAggregate: Sendable {
    /// The definitions.
    public let dialect: Dialect
    /// The number of sessions, each with its weight.
    public private(set) var sessionCount = 0
    /// The number of recorded sessions.
    public private(set) var recordedCount = 0
    /// The summary of each metric that at least one session has a value of, by name.
    public private(set) var summaries: [String: MetricSummary] = [:]

    /// Creates an aggregate without sessions.
    public init(_ dialect: Dialect) { self.dialect = dialect }

    /// Adds a session.
    public mutating func add(_ session: QualitySession) {
        sessionCount.add(session.weight)
        recordedCount.add(1)
        for reading in dialect.readings(of: session) {
            // A record of one session has no sum.
            if case .record = reading.value { continue }
            summaries[reading.metric.name, default: MetricSummary()].add(reading.value, weight: session.weight)
        }
    }

    /// Adds all sessions of another aggregate of the same dialect.
    public mutating func merge(_ other: QualityAggregate) {
        sessionCount.add(other.sessionCount)
        recordedCount.add(other.recordedCount)
        for (name, summary) in other.summaries { summaries[name, default: MetricSummary()].merge(summary) }
    }

    /// The summary of a metric; nil if no session has a value of it.
    public func summary(of metric: QualityMetric) -> MetricSummary? { summaries[metric.name] }
}

/// The values of one metric over many sessions.
public struct MetricSummary: Hashable, Sendable {
    /// The divisor of the integers of ``values``: ratios and results of formulas count in millionths.
    package private(set) var scale = 1
    /// The values of the sessions, in units of 1/`scale`; for metrics of the kind `distribution`, all observations.
    public private(set) var values = Distribution()
    /// The sum of all numerators of ratios, with weights.
    package private(set) var numerator: Int128 = 0
    /// The sum of all denominators of ratios, with weights.
    package private(set) var denominator: Int128 = 0
    /// Sums by label, with weights.
    public private(set) var labels: [String: Int] = [:]

    /// Creates a summary without values.
    package init() {}

    /// The sum of all values; for metrics of the kind `sum`.
    public var total: Double { Double(values.sum) / Double(scale) }

    /// The mean over sessions; nil without values.
    public var mean: Double? { values.mean.map { $0 / Double(scale) } }

    /// The ratio of the sums, which weighs long sessions more than ``mean`` does; nil for metrics that are not ratios.
    public var pooled: Double? { denominator > 0 ? Double(numerator) / Double(denominator) : nil }

    /// A quantile over sessions, within 0.4 %; nil without values.
    public func quantile(_ share: Double) -> Double? { values.quantile(share).map { Double($0) / Double(scale) } }

    mutating func add(_ value: QualityValue, weight: Int) {
        switch value {
        case .integer(let number): values.record(number, count: weight)
        case .ratio(let ratio):
            scale = 1_000_000
            values.record(ratio.millionths, count: weight)
            numerator.add(Int128(ratio.numerator) * Int128(weight))
            denominator.add(Int128(ratio.denominator) * Int128(weight))
        case .real(let number):
            scale = 1_000_000
            values.record(Int(clampingRounded: number * 1_000_000), count: weight)
        case .labelled(let sums):
            for (label, sum) in sums { labels[label, default: 0].add(sum.saturatingMultiply(weight)) }
        case .distribution(let observations): values.merge(observations, weight: weight)
        case .record: break
        }
    }

    mutating func merge(_ other: MetricSummary) {
        scale = max(scale, other.scale)
        values.merge(other.values)
        numerator.add(other.numerator)
        denominator.add(other.denominator)
        for (label, sum) in other.labels { labels[label, default: 0].add(sum) }
    }
}

extension Int {
    /// The nearest integer; the ends of the range for values beyond them, 0 for NaN.
    init(clampingRounded value: Double) {
        let rounded = value.rounded()
        if let exact = Int(exactly: rounded) {
            self = exact
        } else {
            self = rounded.isNaN ? 0 : (rounded < 0 ? .min : .max)
        }
    }
}
