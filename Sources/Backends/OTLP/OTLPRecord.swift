public import Instrument

/// OpenTelemetry's form of a sample: a log record or a measurement.
public enum OTLPRecord: Hashable, Sendable {
    /// A log record, as events are sent.
    case log(OTLPLog)
    /// A measurement, which becomes a part of a metric.
    case measurement(OTLPMeasurement)
}

/// A log record of OpenTelemetry.
public struct OTLPLog: Hashable, Sendable {
    /// The severity, with OpenTelemetry's number.
    public enum Severity: Int, Hashable, Sendable {
        /// An ordinary event.
        case info = 9
        /// Something that needs attention.
        case warn = 13
        /// An error.
        case error = 17
        /// An error that ended something.
        case fatal = 21

        /// `INFO`, `WARN`, `ERROR`, `FATAL`.
        var text: String {
            switch self {
            case .info: "INFO"
            case .warn: "WARN"
            case .error: "ERROR"
            case .fatal: "FATAL"
            }
        }
    }

    /// The name of the event.
    public var name: String
    /// The severity.
    public var severity: Severity
    /// The attributes under the names of the wire.
    public var attributes: [Attribute]
    /// The calendar time.
    public var time: WallTime

    /// An attribute: a name and a value.
    public struct Attribute: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: AttributeValue

        /// Creates an attribute.
        public init(_ name: String, _ value: AttributeValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a log record.
    public init(name: String, severity: Severity = .info, attributes: [Attribute], time: WallTime) {
        self.name = name
        self.severity = severity
        self.attributes = attributes
        self.time = time
    }
}

/// A measurement of OpenTelemetry.
public struct OTLPMeasurement: Hashable, Sendable {
    /// How measurements of one metric are combined.
    public enum Kind: Hashable, Sendable {
        /// A distribution: an exponential histogram.
        case histogram
        /// A sum of increments.
        case sum
        /// The reading itself.
        case gauge
    }

    /// The name of the metric.
    public var name: String
    /// The unit in UCUM: `s`, `1`, `bit/s`.
    public var unit: String
    /// How measurements are combined.
    public var kind: Kind
    /// The number; it must be finite.
    public var value: Double
    /// The attributes. Each combination of values is a series, so they must not be identifiers.
    public var attributes: [OTLPLog.Attribute]
    /// The calendar time.
    public var time: WallTime

    /// Creates a measurement.
    public init(
        name: String,
        unit: String,
        kind: Kind,
        value: Double,
        attributes: [OTLPLog.Attribute] = [],
        time: WallTime
    ) {
        self.name = name
        self.unit = unit
        self.kind = kind
        self.value = value
        self.attributes = attributes
        self.time = time
    }
}
