import Instrument
import InstrumentQuality

/// Records a viewing: runs actions through the ads hub, with the attributes that an instrument adds.
struct Viewing {
    private(set) var events: [Event] = []
    private var hub: any Hub
    private var now: MonotonicInstant
    private let wallStart: Int64
    private let instrument: String
    private var remembered: [TrackerID: [Action: MonotonicInstant]] = [:]
    private let identifiers: Identifiers

    static let content = TrackerID(0)
    static let ads = TrackerID(1)

    init(
        _ instrument: String = "device",
        hub: any Hub = AdsHub(),
        at origin: Int = 0,
        wallTime: Int64 = 1_767_225_600_000
    ) {
        self.hub = hub
        self.instrument = instrument
        now = MonotonicInstant(nanoseconds: Int64(origin) * 1_000_000)
        wallStart = wallTime - Int64(origin)
        identifiers = Identifiers(instrument)
    }

    /// Lets `milliseconds` pass, and then adds an event; a rejected one is left out.
    @discardableResult
    mutating func add(
        _ milliseconds: Int,
        _ action: Action,
        from tracker: TrackerID = Viewing.content,
        _ attributes: Attributes = [:]
    ) -> Bool {
        now = now.advanced(by: .milliseconds(milliseconds))
        let wallTime = WallTime(milliseconds: wallStart + now.milliseconds)
        var event = Event(
            action,
            tracker: tracker,
            time: Timestamp(instant: now, wallTime: wallTime),
            attributes: attributes
        )
        event[.senderId] = "\(instrument)-\(tracker)"
        if tracker == Self.ads {
            event[.isAdsTracker] = true
            event[.contentSenderId] = "\(instrument)-\(Self.content)"
        }
        for (earlier, instant) in remembered[tracker] ?? [:] { event[earlier.timeKey] = instant.milliseconds(to: now) }
        var context = HubContext(content: tracker == Self.ads ? Self.content : tracker, environment: identifiers)
        guard hub.process(&event, in: &context) == .accepted else { return false }
        remembered[tracker, default: [:]][action] = now
        events.append(event)
        return true
    }

    private final class Identifiers: HubEnvironment {
        private let prefix: String
        private let count = Lock(0)
        init(_ prefix: String) { self.prefix = prefix }
        func makeIdentifier() -> String {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return "\(prefix)-id\(number)"
        }
        func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? { nil }
    }
}

/// A step of a script: milliseconds since the step before, the action, and attributes.
typealias Step = (Int, Action, Attributes)

/// The sessions of a script of the content's tracker.
func sessions(_ steps: [Step], recording: SessionModel.Recording = .trace) -> [QualitySession] {
    var viewing = Viewing()
    for (milliseconds, action, attributes) in steps { viewing.add(milliseconds, action, attributes) }
    return sessions(of: viewing.events, recording: recording)
}

/// The sessions of events, in the order of their ends.
func sessions(of events: [Event], recording: SessionModel.Recording = .trace) -> [QualitySession] {
    var reader = SessionReader(recording: recording)
    var sessions: [QualitySession] = []
    for event in events { sessions += reader.observe(event).closed }
    return sessions + reader.finish()
}

extension Dialect {
    /// The value of a metric, which the dialect must have.
    func value(_ name: String, of session: QualitySession) -> QualityValue? { metric(name)?.value(of: session) }
}
