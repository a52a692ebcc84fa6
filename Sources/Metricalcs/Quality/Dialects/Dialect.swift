/// A named set of metric definitions: pure functions from a session to values.
///
/// One session can be read in several dialects side by side. The set is open: ``adding(_:)`` extends a dialect, and
/// ``init(_:title:version:metrics:)`` creates another.
///
/// ```swift
/// for dialect in Dialect.all {
///     for reading in dialect.readings(of: session) { print(dialect.name, reading.metric, reading.value) }
/// }
/// ```
public struct Dialect: Sendable {
    /// The name on the command line, for example `exoplayer` or `3gpp26247`.
    public let name: String
    /// The name for people.
    public let title: String
    /// The version of the definitions: it rises with each change after which a session may have another value.
    public let version: Int
    /// The definitions, in the order of the dialect's document.
    public let metrics: [QualityMetric]

    /// Creates a dialect.
    public init(_ name: String, title: String, version: Int = 1, metrics: [QualityMetric]) {
        self.name = name
        self.title = title
        self.version = version
        self.metrics = metrics
    }

    /// The values of a session, in the order of ``metrics``; a metric without a value is left out.
    public func readings(of session: QualitySession) -> [QualityReading] {
        metrics.compactMap { metric in metric.value(of: session).map { QualityReading(metric: metric, value: $0) } }
    }

    /// The metric with that name; nil if the dialect has no such metric.
    public func metric(_ name: String) -> QualityMetric? { metrics.first { $0.name == name } }

    /// The dialect with further metrics, each in place of one with the same name.
    public func adding(_ added: [QualityMetric]) -> Dialect {
        let names = Set(added.map(\.name))
        return Dialect(
            name,
            title: title,
            version: version,
            metrics: metrics.filter { !names.contains($0.name) } + added
        )
    }

    /// Every dialect of the library, ours first.
    public static let all: [Dialect] = [.instrument, .openavt, .mux, .exoplayer, .newRelic, .cta2066, .tgpp26247]

    /// The library's dialect with that name on the command line; nil for another name.
    public static func named(_ name: String) -> Dialect? { all.first { $0.name == name } }
}

extension Dialect: CustomStringConvertible {
    /// The name on the command line.
    public var description: String { name }
}

/// A metric with its value for one session.
public struct QualityReading: Sendable {
    /// The definition.
    public let metric: QualityMetric
    /// The value.
    public let value: QualityValue

    /// Creates a reading.
    package init(metric: QualityMetric, value: QualityValue) {
        self.metric = metric
        self.value = value
    }
}
