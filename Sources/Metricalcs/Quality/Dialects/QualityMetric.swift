/// A quality metric as one dialect defines it: name, unit, kind, source, definition, and the function from a session to
/// a value.
///
/// The set is open: create a metric with a function of ``QualitySession`` and add it to a ``Dialect``.
public struct QualityMetric: Sendable {
    /// The unit of a value.
    public struct Unit: Hashable, Sendable, CustomStringConvertible {
        /// The unit as text, empty for a count.
        public let description: String

        /// Creates a unit.
        public init(_ description: String) { self.description = description }

        /// Things.
        public static let count = Unit("")
        /// Milliseconds.
        public static let milliseconds = Unit("ms")
        /// Bits a second.
        public static let bitsPerSecond = Unit("bit/s")
        /// A fraction of one.
        public static let ratio = Unit("ratio")
        /// Per minute.
        public static let perMinute = Unit("1/min")
        /// Per second.
        public static let perSecond = Unit("1/s")
        /// A score from 0 to 100.
        public static let score = Unit("0–100")
    }

    /// How the values of sessions combine.
    public enum Kind: String, Hashable, Sendable {
        /// One reading for each session; sessions form a distribution.
        case gauge
        /// Values of sessions add up.
        case sum
        /// Many observations in each session; sketches of sessions merge.
        case distribution
    }

    /// The wire name.
    public let name: String
    /// The unit of a value.
    public let unit: Unit
    /// How values of sessions combine.
    public let kind: Kind
    /// The definition in words.
    public let definition: String
    /// The source of the definition: a clause or an address.
    public let source: String
    /// The reason for which this definition differs from the metric of the same meaning in ``Dialect/instrument``; nil
    /// if it does not.
    public let difference: String?
    /// The metric of ``Dialect/instrument`` with the same meaning; nil if there is no counterpart.
    public let counterpart: String?
    private let compute: @Sendable (QualitySession) -> QualityValue?

    /// Creates a metric.
    ///
    /// - Parameters:
    ///   - name: the wire name.
    ///   - unit: the unit of a value.
    ///   - kind: how values of sessions combine.
    ///   - definition: the definition in words.
    ///   - source: where the definition comes from.
    ///   - counterpart: the metric of ``Dialect/instrument`` with the same meaning; by default the one of the same
    ///     name.
    ///   - difference: why the definition differs from that metric; nil if it does not.
    ///   - value: computes the value from a session; nil if the session has no value.
    public init(
        _ name: String,
        _ unit: Unit,
        _ kind: Kind,
        definition: String,
        source: String,
        counterpart: String? = nil,
        difference: String? = nil,
        value: @escaping @Sendable (QualitySession) -> QualityValue?
    ) {
        self.name = name
        self.unit = unit
        self.kind = kind
        self.definition = definition
        self.source = source
        self.counterpart = counterpart
        self.difference = difference
        compute = value
    }

    /// The value of a session; nil if the session has no value, for example no start time without a start.
    public func value(of session: QualitySession) -> QualityValue? { compute(session) }
}

extension QualityMetric: CustomStringConvertible {
    /// The wire name.
    public var description: String { name }
}
