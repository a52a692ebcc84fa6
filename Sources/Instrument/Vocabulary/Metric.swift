/// The name, the kind and the unit of a metric.
///
/// The set is open: `extension MetricName { static let menuOpens = MetricName("MenuOpens", .counter) }`.
public struct MetricName: Hashable, Sendable, CustomStringConvertible {
    /// How values of a metric add up.
    public enum Kind: String, Hashable, Sendable {
        /// A reading; the latest or a distribution is what counts.
        case gauge
        /// An increment; increments are summed.
        case counter
    }

    /// The unit of a value.
    public enum Unit: String, Hashable, Sendable {
        /// Things.
        case count
        /// Milliseconds.
        case milliseconds = "ms"
        /// Bits a second.
        case bitsPerSecond = "bit/s"
        /// A fraction of one.
        case ratio
        /// Per minute.
        case perMinute = "1/min"
    }

    /// The wire name, in upper camel case for ours.
    public let spelling: String
    /// How values add up.
    public let kind: Kind
    /// The unit of a value.
    public let unit: Unit

    /// Creates a metric's name.
    public init(_ spelling: String, _ kind: Kind, unit: Unit = .count) {
        self.spelling = spelling
        self.kind = kind
        self.unit = unit
    }

    /// The wire name.
    public var description: String { spelling }
}

/// A number computed from events.
public struct Metric: Hashable, Sendable {
    /// A metric's number.
    public enum Value: Hashable, Sendable {
        /// A whole number.
        case int(Int)
        /// A floating-point number; it has to be finite to be recorded.
        case double(Double)
    }

    /// The name.
    public let name: MetricName
    /// The number, in the name's unit.
    public var value: Value
    /// The tracker whose event it was computed from.
    public let tracker: TrackerID
    /// The time of that event.
    public let time: Timestamp
    /// Whose number it is: by default sender, stream and playback of that event.
    public var attributes: Attributes

    /// Creates a metric from an event, whose tracker, time and identity it takes over.
    public init(_ name: MetricName, _ value: Value, of event: Event) {
        var identity = MetricIdentity()
        self.init(name, value, tracker: event.tracker, time: event.time, attributes: identity.attributes(of: event))
    }

    /// Creates a metric from its parts.
    public init(_ name: MetricName, _ value: Value, tracker: TrackerID, time: Timestamp, attributes: Attributes) {
        self.name = name
        self.value = value
        self.tracker = tracker
        self.time = time
        self.attributes = attributes
    }

    /// The attributes that distinguish values of one metric, such as the rendition of a `TimeInQuality`: all except
    /// those that say whose the value is. Each label of a monitored stream (`monitorLabels`) is one of them.
    ///
    /// A backend for time series sends them as labels: values with different labels are different series. Left out are
    /// `senderId`, `contentSenderId`, `streamId`, `playbackId` and `userId`, each of which would make a series for each
    /// session or person, `sampleWeight`, and values that are fractions, arrays or objects. An app that names persons
    /// by another attribute than `userId` (`PrivacyRules.userIdKey`) lists that attribute in `omitted` of its mappings.
    public var labels: [Attributes.Element] { ownLabels + attributes.labelElements }

    /// The ``labels`` without those of a monitored stream.
    package var ownLabels: [Attributes.Element] {
        attributes.withElements { elements in
            elements.filter { element in
                switch element.value {
                case .string, .int, .bool: !Self.identity.contains(element.name)
                case .double, .array, .object: false
                }
            }
        }
    }

    private static let identity: [AttributeName] = [
        AttributeKey<String>.senderId.name, AttributeKey<String>.streamId.name, AttributeKey<String>.playbackId.name,
        AttributeKey<String>.contentSenderId.name, AttributeKey<String>.userId.name, "sampleWeight",
    ]

    package var isFinite: Bool {
        if case .double(let value) = value { value.isFinite } else { true }
    }
}

extension Metric.Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, CustomStringConvertible {
    /// A whole number.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// The number as text.
    public var description: String {
        switch self {
        case .int(let value): String(value)
        case .double(let value): String(value)
        }
    }
}
