/// The state machine of a chain: decides which events are legal and adds what follows from those before.
///
/// A hub is a pure value: the same events in the same order give the same verdicts and the same attributes, so that a
/// recorded session can be replayed through it. What it wants from outside it asks of the context, and what it wants
/// done outside it leaves there. It is called for one event at a time, never from two threads at once.
public protocol Hub: Sendable {
    /// Judges an event and completes it. A rejected event must leave the hub as it was.
    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict
    /// A tracker was removed; what is kept of it may go.
    mutating func forget(_ tracker: TrackerID)
    /// The instrument is ready.
    mutating func ready()
    /// Its service ended: it was replaced or the instrument shut down.
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

/// Whether an event continues along the chain.
public enum Verdict: Hashable, Sendable {
    /// The event continues.
    case accepted
    /// Its journey ends here, for the given reason.
    case rejected(Rejection)
}

/// Why an event was not legal. An open set: hubs of yours may add reasons.
public struct Rejection: Hashable, Sendable, CustomStringConvertible {
    /// The reason as a short code.
    public let code: String

    /// Creates a reason.
    public init(_ code: String) { self.code = code }

    /// It begins what has begun, or repeats what happens once.
    public static let alreadyDone = Rejection("alreadyDone")
    /// It ends what has not begun.
    public static let notBegun = Rejection("notBegun")
    /// It needs a playback that has started and not ended.
    public static let notInPlayback = Rejection("notInPlayback")
    /// It needs to be in an ad break.
    public static let notInAdBreak = Rejection("notInAdBreak")
    /// It needs to be in an ad.
    public static let notInAd = Rejection("notInAd")
    /// It cannot happen in an ad break.
    public static let inAdBreak = Rejection("inAdBreak")
    /// It comes before what it has to follow.
    public static let outOfOrder = Rejection("outOfOrder")
    /// A tracker's own hook ended its journey.
    public static let refusedByTracker = Rejection("refusedByTracker")

    /// The code.
    public var description: String { code }
}

/// What a hub may ask of the world: an instrument answers from life, a replay from its recording.
public protocol HubEnvironment: AnyObject, Sendable {
    /// A new unique identifier.
    func makeIdentifier() -> String
    /// The current value of an attribute of a tracker; nil if it has none.
    func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue?
}

/// What a hub sees of the world while it processes one event, and where it leaves its wishes.
public struct HubContext {
    /// A wish for a tracker's pings.
    public enum PingChange: Hashable, Sendable {
        /// Ping this tracker from now on, every 30 s.
        case start(TrackerID)
        /// Ping this tracker no more.
        case stop(TrackerID)
    }

    /// The content tracker that the event's tracker serves ads for; the tracker itself if it serves none.
    public let content: TrackerID
    /// Wishes left so far, in order; carried out if the event is accepted.
    public private(set) var pingChanges: [PingChange] = []
    private let environment: any HubEnvironment

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - content: the content tracker that the event's tracker belongs to.
    ///   - environment: answers what the hub asks.
    public init(content: TrackerID, environment: any HubEnvironment) {
        self.content = content
        self.environment = environment
    }

    /// A new unique identifier.
    public func makeIdentifier() -> String { environment.makeIdentifier() }

    /// The current value of any attribute of any tracker, as its getter gives it; nil if it has none.
    public func value<Value>(of key: AttributeKey<Value>, from tracker: TrackerID) -> Value? {
        environment.value(of: key.name, from: tracker).flatMap(Value.init(attributeValue:))
    }

    /// Asks for a ping of `tracker` every 30 s from now on.
    public mutating func startPings(of tracker: TrackerID) { pingChanges.append(.start(tracker)) }

    /// Asks that `tracker` be pinged no more.
    public mutating func stopPings(of tracker: TrackerID) { pingChanges.append(.stop(tracker)) }
}
