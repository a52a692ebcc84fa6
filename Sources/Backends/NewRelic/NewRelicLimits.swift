/// The limits of New Relic's Event API and Metric API (docs.newrelic.com: "Event limits and requirements", "Metric API
/// limits and restricted attributes").
enum NewRelicLimits {
    /// Bytes of a request's body; here before it is packed, which is on the safe side.
    static let bodyBytes = 1_000_000
    /// Members of an event, `eventType` and `timestamp` included.
    static let eventAttributes = 254
    /// Attributes of a metric data point.
    static let metricAttributes = 100
    /// Bytes of the name of an attribute, an event type or a metric.
    static let nameBytes = 255
    /// Bytes of a text.
    static let textBytes = 4096
    /// Integers beyond this are rounded, because New Relic stores 64-bit floats.
    static let exactInteger = 1 << 53
    /// Names that an event's own members or New Relic's have.
    static let reservedNames: Set<String> = [
        "accountId", "appId", "endTimestamp", "entity.guid", "eventType", "interval.ms", "metricName", "timestamp",
    ]
}
