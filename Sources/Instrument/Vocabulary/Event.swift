/// Something that happened, when, to whom, and what was true at that moment.
public struct Event: Hashable, Sendable {
    /// The action.
    public let action: Action
    /// The tracker that reported it.
    public let tracker: TrackerID
    /// The time of the event.
    public package(set) var time: Timestamp
    /// The attributes at that time.
    public var attributes: Attributes

    /// Creates an event. Trackers do not: they call `emit`, and the instrument makes the event.
    public init(_ action: Action, tracker: TrackerID, time: Timestamp, attributes: Attributes = Attributes()) {
        self.action = action
        self.tracker = tracker
        self.time = time
        self.attributes = attributes
    }

    /// The attribute with the given key; nil if it is absent or of another type. Setting nil removes it.
    @inlinable
    public subscript<Value>(key: AttributeKey<Value>) -> Value? {
        get { attributes[key] }
        set { attributes[key] = newValue }
    }

    /// A duration as it stands on the wire, in whole milliseconds; spares the conversion where only that is wanted.
    @inlinable
    public subscript(milliseconds key: AttributeKey<Duration>) -> Int? {
        get {
            defer { withExtendedLifetime(attributes) {} }
            guard let element = attributes.element(named: key.name), case .int(let value) = element.pointee.value else {
                return nil
            }
            return value
        }
        set { attributes[key.name] = newValue.map { .int($0) } }
    }
}
