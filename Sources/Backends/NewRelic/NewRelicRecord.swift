public import Instrument

/// New Relic's form of a sample: an event or a metric.
public enum NewRelicRecord: Hashable, Sendable {
    /// An element of a request to the Event API.
    case event(NewRelicEvent)
    /// An element of a request to the Metric API.
    case metric(NewRelicMetric)
}

/// A custom event of New Relic: a flat set of attributes.
public struct NewRelicEvent: Hashable, Sendable {
    /// The event type, comparable to a table: letters, digits, `_` and `:`.
    public var type: String
    /// The attributes. Truths are sent as the texts `true` and `false`, arrays and objects as JSON.
    public var attributes: Attributes
    /// The calendar time, in milliseconds on the wire.
    public var time: WallTime

    /// Creates an event.
    public init(type: String, attributes: Attributes, time: WallTime) {
        self.type = type
        self.attributes = attributes
        self.time = time
    }
}

/// A metric data point of New Relic.
public struct NewRelicMetric: Hashable, Sendable {
    /// The value of a data point; numbers must be finite.
    public enum Value: Hashable, Sendable {
        /// A reading.
        case gauge(Double)
        /// An increment over an interval.
        case count(Double, over: Duration)
        /// The readings of an interval, summed up.
        case summary(count: Double, sum: Double, min: Double, max: Double, over: Duration)
    }

    /// The name of the metric.
    public var name: String
    /// The value.
    public var value: Value
    /// The attributes. Arrays and objects are sent as JSON.
    public var attributes: Attributes
    /// The calendar time; of a count and a summary the start of the interval.
    public var time: WallTime

    /// Creates a data point.
    public init(name: String, value: Value, attributes: Attributes, time: WallTime) {
        self.name = name
        self.value = value
        self.attributes = attributes
        self.time = time
    }
}
