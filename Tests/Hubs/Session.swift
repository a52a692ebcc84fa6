import Instrument

/// Plays actions through a hub and the core metricalc, with the times that an instrument would add.
struct Session<H: Hub & Hashable> {
    var hub: H
    var metricalc = CoreMetricalc()
    var now = MonotonicInstant(nanoseconds: 0)
    var content: [TrackerID: TrackerID] = [:]
    var positions: [TrackerID: Duration] = [:]
    private(set) var events: [Event] = []
    private(set) var metrics: [Metric] = []
    private(set) var pings: [HubContext.PingChange] = []
    private var remembered: [TrackerID: [(Action, MonotonicInstant)]] = [:]
    private var identifiers = 0

    init(_ hub: H) { self.hub = hub }

    /// Lets `milliseconds` pass, then emits `action`.
    @discardableResult
    mutating func emit(
        _ action: Action,
        after milliseconds: Int = 0,
        from tracker: TrackerID = TrackerID(0),
        _ attributes: Attributes = [:]
    ) -> Verdict {
        now = now.advanced(by: .milliseconds(milliseconds))
        let time = Timestamp(instant: now, wallTime: WallTime(milliseconds: 0))
        var event = Event(action, tracker: tracker, time: time, attributes: attributes)
        for (earlier, instant) in remembered[tracker] ?? [] { event[earlier.timeKey] = instant.milliseconds(to: now) }

        let environment = RecordedEnvironment(firstIdentifier: identifiers, positions: positions)
        var context = HubContext(content: content[tracker] ?? tracker, environment: environment)
        let verdict = hub.process(&event, in: &context)
        guard verdict == .accepted else { return verdict }
        pings += context.pingChanges
        identifiers = environment.identifiers
        metricalc.process(event, into: &metrics)
        events.append(event)
        remembered[tracker, default: []].removeAll { $0.0 == action }
        remembered[tracker, default: []].append((action, now))
        return verdict
    }

    var last: Event? { events.last }

    func values(of name: MetricName) -> [Metric.Value] { metrics.filter { $0.name == name }.map(\.value) }
}

/// A context of a hub with the values of a test.
final class RecordedEnvironment: HubEnvironment {
    private let made: Lock<Int>
    private let positions: [TrackerID: Duration]

    init(firstIdentifier: Int, positions: [TrackerID: Duration]) {
        made = Lock(firstIdentifier)
        self.positions = positions
    }

    var identifiers: Int { made.withLock { $0 } }

    func makeIdentifier() -> String {
        made.withLock { made in
            made += 1
            return "id\(made)"
        }
    }

    func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? {
        name == "position" ? positions[tracker]?.attributeValue : nil
    }
}
