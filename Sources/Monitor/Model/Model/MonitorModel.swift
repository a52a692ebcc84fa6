package import Instrument
internal import InstrumentHTTP
package import InstrumentWatch

/// The monitor as a value: which streams play when, what is known of them, and which alerts are sent.
///
/// The owner calls ``advance(to:)`` when ``nextDeadline`` has come, and ``handle(_:of:at:)`` for each report of a
/// session, and carries out the effects in order. The model has no clock, no threads and no I/O, so that tests drive
/// months in milliseconds. Memory is bounded by the number of streams.
package struct MonitorModel: Sendable {
    package internal(set) var configuration: WatchConfiguration
    let options: MonitorOptions
    package internal(set) var streams = StreamRegister()
    var deadlines = DeadlineQueue()
    var engine = AlertEngine()
    package internal(set) var book: IncidentBook
    var objectives = ObjectiveBook()
    /// What is kept of faults.
    package var evidence = KeptEvidence()
    /// Whether the saved incidents could not be read.
    package internal(set) var hasDamagedIncidents = false
    var generator: SplitMix64
    let origin: Timestamp
    var nextSession = 1
    /// The number of streams that were added, by period, which spreads the starts evenly.
    var placed: [Duration: Int] = [:]
    var nextEvaluation: MonotonicInstant
    /// The distinct windows of the alerts.
    var windows: [Duration] = []
    package internal(set) var runningCount = 0
    /// Starts that waited because too many sessions were running.
    package internal(set) var delayedStarts = 0
    /// Sessions that did not end after their stop.
    package internal(set) var abandonedSessions = 0
    /// How late the work was that was due.
    var delays = DelayMeter()
    /// Streams that are down, and those for which an alert fired at the latest evaluation.
    var troubledCount = 0
    /// Counts changes of what survives a restart: streams that go down and come back, and alerts.
    package internal(set) var lastingChanges = 0
    package internal(set) var isStopping = false
    /// The streams that are checked because a person asked for it, by slot, and since when.
    var checking: [Int: MonotonicInstant] = [:]
    /// Reloads of the configuration.
    package internal(set) var reloads = 0
    package internal(set) var failedReloads = 0
    /// Why the latest configuration is not used; nil if it is.
    package internal(set) var failedReload: FailedReload?
    package var latestReloadFailed: Bool { failedReload != nil }
    /// What became different in the monitor itself.
    var ownChanges = ChangeTracker()
    var receivers = ReceiverBook()
    /// The calendar of histories and budgets.
    var historyClock: HistoryClock
    /// The browser that plays for the monitor.
    var browser = BrowserBook()
    /// The places whose monitors send samples; nil for a monitor that plays its streams.
    var places: PlaceBook?

    /// Creates a model.
    /// - Parameters:
    ///   - configuration: the streams and alerts.
    ///   - options: limits and intervals.
    ///   - now: the first instant.
    ///   - seed: chooses the jitter.
    ///   - saved: the state that an earlier process saved.
    package init(
        _ configuration: WatchConfiguration,
        options: MonitorOptions = MonitorOptions(),
        at now: Timestamp,
        seed: UInt64 = 1,
        restoring saved: SavedMonitor? = nil
    ) {
        self.configuration = configuration
        self.options = options
        generator = SplitMix64(seed: seed)
        (origin, historyClock) = (now, HistoryClock(at: now))
        nextEvaluation = now.instant.advanced(by: options.evaluationInterval)
        book = IncidentBook(configuration, groupWait: options.groupDelay)
        windows = Self.windows(of: configuration)
        let continuousCount = configuration.streams.count { $0.schedule == .continuous }
        for stream in configuration.streams { add(stream, at: now, continuousCount: continuousCount) }
        places = configuration.places.map { PlaceBook($0, at: now.instant) }
        if let saved { restorePlaces(saved, at: now) }
        book.configure(configuration, hosts: alertedHosts)
        if let saved { restore(saved, at: now) }
        ownChanges.note(.monitor, saved == nil ? "the monitor started" : "the monitor started again", at: now.wallTime)
    }

    /// When ``advance(to:)`` has something to do.
    package var nextDeadline: MonotonicInstant {
        let alerts = min(nextEvaluation, book.nextDeadline ?? nextEvaluation)
        return min(deadlines.first?.deadline ?? alerts, alerts)
    }

    /// The state of a stream; nil for an unknown name.
    package func stream(named name: String) -> StreamState? { streams[named: name] }

    /// The model for a page that shows counters: what the page shows is the least that later pages show.
    package mutating func shown(at now: MonotonicInstant) -> MonitorModel {
        streams.changeAll { $0.noteShown(at: now) }
        return self
    }

    /// The receivers of alerts that do not get their messages.
    package var undelivered: [UndeliveredMessages] { receivers.failing }

    /// Takes note of the receivers that do not get their messages.
    package mutating func note(_ undelivered: [UndeliveredMessages]) { receivers.note(undelivered) }

    /// The alerts that fire or are about to.
    package var alerts: [AlertEngine.Shown] { engine.shown }

    /// The hosts of all streams that an alert looks at, by the place of the monitor that plays them; empty for this
    /// monitor.
    var alertedHosts: [String: Set<String>] {
        streams.all.lazy.filter { !$0.alerts.isEmpty }.reduce(into: [:]) { hosts, state in
            hosts[state.stream.origin?.place ?? "", default: []].insert(state.stream.url.host)
        }
    }

    /// Whether no session runs.
    package var isIdle: Bool { runningCount == 0 }

    static func windows(of configuration: WatchConfiguration) -> [Duration] {
        var windows: Set<Duration> = []
        for alert in configuration.alerts {
            for condition in alert.condition.conditions + (alert.keepWhile?.conditions ?? []) {
                if let window = condition.window { windows.insert(window) }
            }
        }
        return windows.sorted()
    }

    /// Brings the cause and the state of a stream up to date.
    mutating func settle(_ slot: Int, at now: Timestamp) {
        guard let settlement = streams.settle(slot, at: now) else { return }
        if settlement.hasLastingChange { lastingChanges += 1 }
        if let requests = settlement.evidence, let name = streams[slot]?.stream.name {
            evidence.keep(requests, of: name, at: now)
        }
        guard settlement.wasDown != settlement.isDown else { return }
        troubledCount = max(0, troubledCount + (settlement.isDown ? 1 : -1))
    }
}
