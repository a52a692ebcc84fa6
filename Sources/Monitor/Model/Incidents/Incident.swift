package import Instrument
internal import InstrumentHTTP
package import InstrumentWatch

/// One outage: the streams that fail together for one cause, from the first alert to the last recovery.
///
/// ```
///                 ┌──────────── acknowledge ───────────┐
///                 │                                    ▼
///  first alert ─▶ open ◀── release, time is over ── acknowledged
///                 │  ▲                                 │  ▲
///      every stream is muted                every stream is muted
///                 ▼  │ the silence or window ends      ▼  │
///               silenced, maintenance  (the acknowledgement is kept meanwhile)
///                 │
///   the last stream recovers, or somebody closes the incident (from every state)
///                 ▼
///               closed ── the same cause returns soon ──▶ open
/// ```
package struct Incident: Hashable, Sendable {
    /// The state of an incident.
    package enum State: Hashable, Sendable {
        /// Nobody has the incident.
        case open
        /// Somebody has the incident.
        case acknowledged
        /// A silence hides every stream that still fails: no messages.
        case silenced(String)
        /// Planned work hides every stream that still fails: no messages. The identifier is that of the work.
        case maintenance(String)
        /// The outage is over.
        case closed

        /// The name in documents: `open`, `acknowledged`, `silenced`, `maintenance`, `closed`.
        package var name: String {
            switch self {
            case .open: "open"
            case .acknowledged: "acknowledged"
            case .silenced: "silenced"
            case .maintenance: "maintenance"
            case .closed: "closed"
            }
        }

        /// Whether no message is sent.
        var isMuted: Bool {
            switch self {
            case .silenced, .maintenance: true
            case .open, .acknowledged, .closed: false
            }
        }
    }

    /// Who has an incident.
    package struct Acknowledgement: Hashable, Sendable {
        package var by: String
        /// When the incident is open again; nil for its whole life.
        package var until: Timestamp?
        package var note: String
        /// Whether the receivers know of it; a silence may delay the message.
        var isTold = true
    }

    /// A stream of an incident.
    package struct Member: Hashable, Sendable {
        package var stream: String
        /// The address without secrets.
        package var address: String
        package var host: String
        package var labels: [String: String]
        /// The alerts that fire.
        package var alerts: Set<String>
        package var since: Timestamp
        /// Nil while an alert fires.
        package var ended: WallTime?
        package var value: Double?
        package var events: [LogEntry] = []
        /// Who plays the stream; nil for this monitor.
        package var origin: StreamOrigin?
        /// Why the stream is hidden; nil for a stream that counts for messages.
        var mute: State?
        /// Whether a message has listed the stream since it began to fail.
        var isTold = false
        /// Whether viewers are in trouble: false for a receiver, a place, a budget or the browser, which take the place
        /// of a stream.
        var isStream = true

        package var isActive: Bool { ended == nil }

        /// The milliseconds for which viewers of the stream are in trouble.
        func milliseconds(until end: MonotonicInstant) -> Int {
            isStream ? max(0, since.instant.milliseconds(to: end)) : 0
        }
    }

    /// What an alert of the configuration contributes to messages.
    struct AlertFacts: Hashable, Sendable {
        var condition: String
        var receivers: [String]
        var severity: AlertSeverity
        var runbook: String?

        init(condition: String, receivers: [String], severity: AlertSeverity) {
            (self.condition, self.receivers, self.severity) = (condition, receivers, severity)
        }

        init(_ alert: AlertConfiguration) {
            (condition, receivers, severity) = (alert.condition.text, alert.receivers, alert.severity)
            runbook = alert.runbook?.secretText
        }
    }

    /// Entries of the log that are kept.
    static let mostLogEntries = 100
    /// Streams of which a closed incident keeps the names.
    static let mostKeptStreams = 100

    package let id: String
    package internal(set) var cause: StreamCause
    /// The short reason of the first alert, as messages name it.
    var reason: String
    /// The alert that opened the incident.
    var firstAlert: String
    package internal(set) var state = State.open
    package internal(set) var since: Timestamp
    /// The latest opening.
    var opened: MonotonicInstant
    package internal(set) var ended: WallTime?
    package internal(set) var acknowledgement: Acknowledgement?
    /// The streams, recovered ones too, by name.
    package internal(set) var members: [String: Member] = [:]
    /// The hosts of the streams that joined since the latest opening.
    var hosts: Set<String> = []
    /// The names of the streams in the order in which they joined.
    var order: [String] = []
    /// The number of streams, also of those whose names are no longer kept; 0 if something of the monitor is in
    /// trouble.
    package internal(set) var streamCount = 0
    var knownStreamCount: Int { members.values.count(where: \.isStream) }
    /// The labels that all streams share.
    package internal(set) var sharedLabels: [String: String] = [:]
    package internal(set) var log: [LogEntry] = []
    /// What became different in the streams before they failed, the latest first.
    package internal(set) var changes: [IncidentChange] = []
    /// All alerts that fired, by name.
    var alerts: [String: AlertFacts] = [:]
    /// Whether the monitor's own network is the likely cause.
    package internal(set) var isOwnNetwork = false
    /// From where the outage is seen; nil for streams that this monitor plays.
    package internal(set) var scope: IncidentScope?
    /// How often the same cause has returned.
    package internal(set) var reopenings = 0
    /// Milliseconds that recovered streams were in trouble.
    var pastMilliseconds = 0

    // MARK: Messages
    /// The receivers that know of the incident.
    var toldReceivers: Set<String> = []
    /// The next message about the opening, or about more streams.
    var messageDeadline: MonotonicInstant?
    var lastMessage: MonotonicInstant?
    /// When the incident closes, because all its streams have recovered.
    var closeDeadline: MonotonicInstant?
    /// Since when nobody has the incident although receivers know of it.
    var unattendedSince: MonotonicInstant?
    /// Steps of the escalation that were taken.
    var escalations = 0
    /// How often nobody had the incident any more after a person or a silence, from when on the steps are taken again.
    var rounds = 0
    /// When the first message waited last because the receivers know of an incident of the same stream.
    var inhibited: MonotonicInstant?
    /// Streams joined since the last message.
    var hasNews = false

    init(id: String, _ signal: IncidentSignal, at now: MonotonicInstant) {
        (self.id, opened) = (id, now)
        (cause, reason) = (signal.cause, signal.reason)
        (firstAlert, since) = (signal.alert, signal.since)
        sharedLabels = signal.labels
    }

    package var isClosed: Bool { state == .closed }

    /// Whether no message was about the incident, and nobody has done anything with it.
    var isUnknownToPeople: Bool { lastMessage == nil && state == .open && acknowledgement == nil && reopenings == 0 }

    /// The streams that still fail, in the order in which they joined.
    package var activeMembers: [Member] { order.compactMap { members[$0] }.filter(\.isActive) }

    /// Whether all streams of which no message has told yet are hidden: a message would have no news.
    var hasHiddenNews: Bool {
        let untold = members.values.filter { $0.isActive && !$0.isTold }
        return !isOwnNetwork && !untold.isEmpty && untold.allSatisfy { $0.mute != nil }
    }

    /// Notes that a message has listed the streams that fail and are not hidden.
    mutating func markTold() {
        for name in order where members[name]?.isActive == true && members[name]?.mute == nil {
            members[name]?.isTold = true
        }
        acknowledgement?.isTold = true
    }

    /// The cause in words.
    package var title: String { scope.map { "\(fault), \($0.text)" } ?? fault }

    private var fault: String {
        if isOwnNetwork { return "The monitor's own network is the likely cause" }
        return cause.resource.map { "\($0.title): \(cause.title)" } ?? cause.title
    }

    /// The most urgent severity of the alerts that fired.
    package var severity: AlertSeverity { alerts.values.map(\.severity).max() ?? .critical }

    /// All receivers of the alerts, in a fixed order.
    var receivers: [String] { Set(alerts.values.flatMap(\.receivers)).sorted() }

    /// Minutes in which viewers were in trouble, if each stream had one viewer all the time: the sum over the streams
    /// of the time from the begin of the first alert's condition to the end of the last alert.
    package func viewerMinutes(at now: Timestamp) -> Double {
        let open = members.values.reduce(0) { sum, member in
            member.isActive ? sum + member.milliseconds(until: now.instant) : sum
        }
        return Double(pastMilliseconds + open) / 60_000
    }

    /// The part of ``viewerMinutes(at:)`` that lies in a period. Of streams that failed several times, or whose times
    /// are no longer kept, it is estimated from the part of the incident that lies in the period.
    package func viewerMinutes(in period: Range<WallTime>, at now: Timestamp) -> Double {
        let whole = viewerMinutes(at: now)
        let (begin, end) = (since.wallTime, ended ?? now.wallTime)
        if period.lowerBound <= begin, end <= period.upperBound { return whole }
        let overlap = { (begin: WallTime, end: WallTime) -> Double in
            let (first, last) = (max(begin, period.lowerBound), min(end, period.upperBound))
            return Double(max(0, last.milliseconds.saturatingSubtract(first.milliseconds))) / 60_000
        }
        var (known, inside) = (0.0, 0.0)
        for member in members.values where member.isStream {
            let last = member.ended ?? now.wallTime
            known += Double(max(0, last.milliseconds.saturatingSubtract(member.since.wallTime.milliseconds))) / 60_000
            inside += overlap(member.since.wallTime, last)
        }
        let length = Double(max(1, end.milliseconds.saturatingSubtract(begin.milliseconds))) / 60_000
        return min(whole, inside + max(0, whole - known) * overlap(begin, end) / length)
    }

    /// One sentence for people: what fails, where, and what to look at.
    package var text: String {
        if isOwnNetwork {
            let hosts = Set(members.values.map(\.host)).count
            return "All \(hosts) hosts failed at once without an answer: look at the network, the name server and the "
                + "firewall of the machine that runs the monitor first."
        }
        return cause.text.isEmpty ? title : cause.text
    }

    mutating func note(_ kind: String, _ text: String, at time: WallTime) {
        log.append(LogEntry(time: time, kind: kind, text: text))
        // The first entries say how the incident began.
        if log.count > Self.mostLogEntries { log.remove(at: Self.mostLogEntries / 10) }
    }

    /// Forgets what only an open incident needs.
    mutating func trim() {
        guard order.count > Self.mostKeptStreams else { return }
        for name in order.dropFirst(Self.mostKeptStreams) { members[name] = nil }
        order.removeLast(order.count - Self.mostKeptStreams)
    }
}
