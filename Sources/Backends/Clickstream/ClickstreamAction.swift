public import Instrument
public import InstrumentJSON

/// One element of a request's body.
public struct ClickstreamAction: Hashable, Sendable {
    /// The identifier, the same at every attempt, so that a server can detect a duplicate.
    public var id: String
    /// The event's name.
    public var name: String
    /// The time of the event by the calendar; on the wire as ISO 8601, UTC, with milliseconds.
    public var timestamp: WallTime
    /// The variables of the event itself.
    public var variables: [String: JSONValue]
    /// The metadata of all events, without names that `variables` has.
    public var metadata: [String: JSONValue]

    /// Creates an action.
    public init(
        id: String,
        name: String,
        timestamp: WallTime,
        variables: [String: JSONValue] = [:],
        metadata: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.name = name
        self.timestamp = timestamp
        self.variables = variables
        self.metadata = metadata
    }
}
