public import Instrument

/// Logs events into the shared queue, which a ``ClickstreamBackend`` empties.
///
/// ```swift
/// let clickstream = try Clickstream.configure(with: delegate, on: instrument, transport: SystemTransport())
/// clickstream.logEvent("Search", variables: ["words": 3])
/// ```
///
/// When `logEvent` returns, the event is in the queue's store; sending, batches, retries and what happens after a crash
/// are the queue's. Events are for this service: the queue delivers them to no other service's backend.
public final class Clickstream: Sendable {
    /// The name of events that are logged without one.
    public static let defaultName = "Event"

    private let delegate: any ClickstreamDelegate
    private let queue: BatchQueue
    private let tracker: TrackerID
    private let clock: any SchedulingClock
    private let report: @Sendable (Diagnostic) -> Void

    /// Creates a logger for a queue that has a ``ClickstreamBackend``.
    ///
    /// - Parameters:
    ///   - delegate: gives the metadata.
    ///   - queue: takes the events.
    ///   - tracker: whose events they are.
    ///   - clock: stamps events.
    ///   - report: receives, on the logging thread, values that were left out because they are not finite.
    public init(
        delegate: any ClickstreamDelegate,
        queue: BatchQueue,
        tracker: TrackerID = TrackerID(0),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) {
        self.delegate = delegate
        self.queue = queue
        self.tracker = tracker
        self.clock = clock
        self.report = report
    }

    /// Saves an event with its variables and the delegate's metadata of this moment; a variable wins over metadata of
    /// its name.
    public func logEvent(_ name: String = Clickstream.defaultName, variables: Attributes = Attributes()) {
        let action = Action(name)
        let metadata = delegate.metadata
        var attributes = variables
        attributes.forgetRefused()
        attributes[ClickstreamMapping.metadata] = Self.object(metadata.filter { variables[$0.name] == nil })
        let leftOut = variables.refused + metadata.refused
        if !leftOut.isEmpty { report(.notFinite(leftOut, action, tracker)) }
        let event = Event(action, tracker: tracker, time: clock.timestamp, attributes: attributes)
        queue.append([.event(event)], for: .clickstream)
    }

    private static func object(_ elements: [Attributes.Element]) -> AttributeValue? {
        if elements.isEmpty { return nil }
        return .object(Dictionary(elements.map { ($0.name.spelling, $0.value) }) { _, last in last })
    }
}
