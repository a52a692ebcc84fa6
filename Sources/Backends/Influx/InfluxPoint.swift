public import Instrument

/// One point of InfluxDB: a line of the line protocol.
public struct InfluxPoint: Hashable, Sendable {
    /// The measurement, comparable to a table.
    public var measurement: String
    /// The tags, which InfluxDB indexes. Each combination of values is a series, so a tag must never be an identifier.
    /// Tags with an empty value are not written.
    public var tags: [Attributes.Element]
    /// The fields; not empty. A field with the name of a tag is not written.
    public var fields: Attributes
    /// The calendar time, written in nanoseconds.
    public var time: WallTime

    /// Creates a point.
    public init(measurement: String, tags: [Attributes.Element] = [], fields: Attributes, time: WallTime) {
        self.measurement = measurement
        self.tags = tags
        self.fields = fields
        self.time = time
    }
}
