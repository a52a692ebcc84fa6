/// The state machine of a chain: decides which events are legal, and adds the attributes that follow from earlier
/// events.
///
/// A hub is a pure value: the same events in the same order give the same verdicts and the same attributes, so that a
/// recorded session can be replayed through it. The context gives a hub everything from outside and takes its
/// requests. A hub is called for one event at a time, never from two threads at once.
public protocol Hub: Sendable {
    /// Accepts or rejects an event, and completes its attributes. A rejected event must not change the hub.
    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict
    /// A tracker was removed; its state can be released.
    mutating func forget(_ tracker: TrackerID)
    /// The instrument is ready.
    mutating func ready()
    /// The component was replaced or the instrument shut down.
    mutating func end()
}

extension Hub {
    /// Does nothing.
    public mutating func forget(_ tracker: TrackerID) {}
    /// Does nothing.
    public mutating func ready() {}
    /// Does nothing.
    public mutating func end() {}
}

/// The decision of a hub or a hook about an event.
public enum Verdict: Hashable, Sendable {
    /// The chain continues with the event.
    case accepted
    /// The chain drops the event, for the given reason.
    case rejected(Rejection)
}

/// The reason why an event was not legal. An open set: custom hubs may add reasons.
public struct Rejection: Hashable, Sendable, CustomStringConvertible {
    /// The reason as a short code.
    public let code: String

    /// Creates a reason.
    public init(_ code: String) { self.code = code }

    /// The event begins an open block, or repeats an event that happens once.
    public static let alreadyDone = Rejection("alreadyDone")
    /// The event ends a block that is not open.
    public static let notBegun = Rejection("notBegun")
    /// The event needs a playback that has started and not ended.
    public static let notInPlayback = Rejection("notInPlayback")
    /// The event needs an ad break.
    public static let notInAdBreak = Rejection("notInAdBreak")
    /// The event needs an ad.
    public static let notInAd = Rejection("notInAd")
    /// The event cannot happen in an ad break.
    public static let inAdBreak = Rejection("inAdBreak")
    /// The event comes before an event that it must follow.
    public static let outOfOrder = Rejection("outOfOrder")
    /// The tracker's hook rejected the event.
    public static let refusedByTracker = Rejection("refusedByTracker")

    /// The code.
    public var description: String { code }
}

/// The environment of a hub: an instrument gives live values, a replay gives recorded values.
public protocol HubEnvironment: AnyObject, Sendable {
    /// Returns a new unique identifier.
    func makeIdentifier() -> String
    /// Returns the current value of an attribute of a tracker; nil without a value.
    func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue?
}

/// The access of a hub to its environment while it processes one event, and the list of its requests.
public struct HubContext {
    /// A request for a tracker's pings.
    public enum PingChange: Hashable, Sendable {
        /// Start pings of this tracker, every 30 s.
        case start(TrackerID)
        /// Stop the pings of this tracker.
        case stop(TrackerID)
    }

    /// The content tracker whose ads the event's tracker reports; otherwise the tracker itself.
    public let content: TrackerID
    /// The requests so far, in order; carried out if the event is accepted.
    public private(set) var pingChanges: [PingChange] = []
    private let environment: any HubEnvironment

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - content: the content tracker that the event's tracker belongs to.
    ///   - environment: the hub's environment.
    public init(content: TrackerID, environment: any HubEnvironment) {
        self.content = content
        self.environment = environment
    }

    /// Returns a new unique identifier.
    public func makeIdentifier() -> String { environment.makeIdentifier() }

    /// Returns the current value of an attribute of any tracker, by its getter; nil without a value.
    public func value<Value>(of key: AttributeKey<Value>, from tracker: TrackerID) -> Value? {
        environment.value(of: key.name, from: tracker).flatMap(Value.init(attributeValue:))
    }

    /// Requests a ping of `tracker` every 30 s from now on.
    public mutating func startPings(of tracker: TrackerID) { pingChanges.append(.start(tracker)) }

    /// Requests the end of the pings of `tracker`.
    public mutating func stopPings(of tracker: TrackerID) { pingChanges.append(.stop(tracker)) }
}
