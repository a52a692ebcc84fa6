/// An element of the queue: an event or a metric.
public enum Sample: Hashable, Sendable {
    /// Something that happened.
    case event(Event)
    /// A number computed from events.
    case metric(Metric)

    /// The tracker that it came from.
    public var tracker: TrackerID {
        switch self {
        case .event(let event): event.tracker
        case .metric(let metric): metric.tracker
        }
    }

    /// The time of the sample.
    public var time: Timestamp {
        switch self {
        case .event(let event): event.time
        case .metric(let metric): metric.time
        }
    }

    /// Its attributes.
    public package(set) var attributes: Attributes {
        get {
            switch self {
            case .event(let event): event.attributes
            case .metric(let metric): metric.attributes
            }
        }
        set {
            switch self {
            case .event(var event):
                event.attributes = newValue
                self = .event(event)
            case .metric(var metric):
                metric.attributes = newValue
                self = .metric(metric)
            }
        }
    }

    /// Whether all its attributes have names with numbers below `limit`.
    func hasOnlyNames(below limit: UInt32) -> Bool {
        switch self {
        case .event(let event): event.attributes.hasOnlyNames(below: limit)
        case .metric(let metric): metric.attributes.hasOnlyNames(below: limit)
        }
    }

    /// Whether it is an error or the end of a playback.
    var isErrorOrEnd: Bool {
        @inline(__always) get {
            guard case .event(let event) = self else { return false }
            switch event.action {
            case .error, .adError, .end, .stop: return true
            default: return false
            }
        }
    }

    /// Whether it can be written as it is; attributes always can.
    var isFinite: Bool {
        if case .metric(let metric) = self { metric.isFinite } else { true }
    }
}
