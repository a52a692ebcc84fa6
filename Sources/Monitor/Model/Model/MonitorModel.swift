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
    var starts: StartPlan
    package internal(set) var sessions = SessionCounts()
    var nextEvaluation: MonotonicInstant
    /// The distinct windows of the alerts.
    var windows: [Duration] = []
    /// How late the work was that was due.
    var delays = DelayMeter()
    /// Streams that are down, and those for which an alert fired at the latest evaluation.
    var troubledCount = 0
    /// Counts changes of what survives a restart: streams that go down and come back, and alerts.
    package internal(set) var lastingChanges = 0
    package internal(set) var isStopping = false
    var checks = RequestedChecks()
    var reloads = ReloadRecord()
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
        starts = StartPlan(options, from: now.instant, seed: seed)
        historyClock = HistoryClock(at: now)
        nextEvaluation = now.instant.advanced(by: options.evaluationInterval)
        book = IncidentBook(configuration, groupWait: options.groupDelay)
        windows = configuration.alertWindows
        let continuousCount = configuration.streams.count { $0.schedule == .continuous }
        for stream in configuration.streams { add(stream, continuousCount: continuousCount, at: now) }
        places = configuration.places.map { PlaceBook($0, at: now.instant) }
        if let saved { restorePlaces(saved, at: now) }
        book.configure(configuration, hosts: streams.alertedHosts)
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

    /// Whether no session runs.
    package var isIdle: Bool { sessions.running == 0 }

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

    // MARK: Time

    /// Performs what is due at `now`.
    package mutating func advance(to now: Timestamp) -> [MonitorEffect] {
        delays.record(max(.zero, nextDeadline.duration(to: now.instant)), at: now.instant)
        var effects: [MonitorEffect] = []
        while let entry = deadlines.popDue(at: now.instant) {
            guard streams[entry.slot]?.nextDeadline == entry.deadline else { continue }
            effects += perform(entry.slot, at: now)
            settle(entry.slot, at: now)
        }
        let isEvaluation = nextEvaluation <= now.instant
        if isEvaluation {
            evaluate(at: now)
            nextEvaluation = now.instant.advanced(by: options.evaluationInterval)
        }
        guard isEvaluation || book.nextDeadline.map({ $0 <= now.instant }) ?? false else { return effects }
        return effects + advanceIncidents(to: now)
    }

    /// Performs what is due for incidents.
    private mutating func advanceIncidents(to now: Timestamp) -> [MonitorEffect] {
        book.advance(to: now, book.mayHold ? HostContact(of: streams) : HostContact()).map { .notify($0) }
    }

    /// The time of now for histories and budgets.
    package func historyTime(at now: Timestamp) -> WallTime { historyClock.time(at: now) }

    /// Follows the wall clock, and moves histories and budgets if that is needed.
    private mutating func followClock(to now: Timestamp) {
        let minutes = historyClock.advance(to: now)
        guard minutes != 0 else { return }
        let time = historyTime(at: now)
        streams.changeAll { $0.history.move(byMinutes: minutes, at: time) }
        objectives.move(byMinutes: minutes)
    }

    // MARK: Alerts

    /// Samples all streams, and evaluates the alerts.
    private mutating func evaluate(at now: Timestamp) {
        followClock(to: now)
        let historyNow = historyTime(at: now)
        judgePlaces(at: now)
        // Before the source is read to its end, streams are in states of the past.
        let isCurrent = places?.isCaughtUp ?? true
        troubledCount = streams.order.count { slot in streams[slot].map(isTroubled) ?? false }
        for slot in streams.order {
            sample(slot, at: now)
            settle(slot, at: now)
            guard let state = streams[slot] else { continue }
            if !configuration.objectives.isEmpty {
                objectives.take(state, configuration.objectives, at: historyNow)
            }
            guard isCurrent, !state.alerts.isEmpty else { continue }
            let evaluation = AlertEvaluation(of: state, at: now)
            for index in evaluation.state.alerts { evaluate(configuration.alerts[index], evaluation, at: now) }
        }
        book.take(objectives.judge(configuration.objectives, at: now, historyNow), at: now)
        book.take(receivers.judge(configuration.receivers.keys.sorted(), at: now), at: now)
        book.take(browser.judge(configuration, at: now), at: now)
    }

    private mutating func evaluate(_ alert: AlertConfiguration, _ evaluation: AlertEvaluation, at now: Timestamp) {
        let (slot, stream, name) = (evaluation.state.slot, evaluation.state.stream.name, alert.name)
        let isFiring = engine.isFiring(name, of: stream)
        let (holds, value) = evaluation.holds(isFiring ? alert.keepWhile ?? alert.condition : alert.condition)
        let change = engine.observe(
            alert,
            evaluation.state.stream,
            holds: holds,
            value: value,
            reason: evaluation.reason,
            longestUnknown: evaluation.longestUnknown,
            at: now
        )
        if change != nil { lastingChanges += 1 }
        switch change {
        case .fires:
            streams.change(slot) { $0.note("alert", "alert \(name) fires", at: now.wallTime) }
            tryBy(now.instant.advanced(by: retryDelay), slot)
            let instance = engine.instances[AlertEngine.Key(alert: name, stream: stream)]
            let own = ownChanges.changes
            book.fires(evaluation.signal(of: alert, instance, value: value, besides: own), at: now)
        case .resolves:
            streams.change(slot) { $0.note("alert", "alert \(name) is resolved", at: now.wallTime) }
            book.resolves(name, of: stream, at: now)
        case nil:
            guard isFiring, let cause = evaluation.state.cause else { return }
            book.explains(cause, of: evaluation.state.stream, at: now)
        }
    }

    /// Adds what has passed since the last sample to the sums of a stream.
    mutating func sample(_ slot: Int, at now: Timestamp) {
        let (recovery, time) = (options.recoveryTime, historyTime(at: now))
        streams.change(slot) { $0.sample(recovery: recovery, historyTime: time, at: now.instant) }
    }

    // MARK: Persons

    /// Performs an action of a person on an incident or a silence; the effects are its messages.
    package mutating func act(
        _ action: IncidentAction,
        by person: String,
        at now: Timestamp
    ) -> (result: Result<String, IncidentActionError>, effects: [MonitorEffect]) {
        do throws(IncidentActionError) {
            let target = try book.perform(action, by: person, at: now)
            return (.success(target), advanceIncidents(to: now))
        } catch {
            return (.failure(error), [])
        }
    }

    /// Records in the audit log what a person did beside incidents and silences.
    package mutating func record(_ entry: AuditEntry) { book.record(entry) }

    // MARK: The configuration

    /// Replaces the configuration: streams that did not change play on, others stop or start.
    package mutating func reload(_ new: WatchConfiguration, at now: Timestamp) -> [MonitorEffect] {
        guard !isStopping else { return [] }
        reloads.note()
        ownChanges.note(.configuration, "the monitor uses a new configuration", at: now.wallTime)
        configuration = new
        windows = new.alertWindows
        let wanted = Dictionary(new.streams.map { ($0.name, $0) }) { first, _ in first }
        var effects: [MonitorEffect] = []
        for (name, slot) in streams.slots.sorted(by: { $0.value < $1.value }) {
            guard let old = streams[slot]?.stream, old.origin == nil else { continue }
            if let stream = wanted[name], stream.playsLike(old) {
                configure(slot, as: stream)
            } else {
                streams.remove(slot, at: now)
                effects += stop(slot, at: now)
            }
        }
        let continuousCount = new.streams.count { $0.schedule == .continuous && streams.slots[$0.name] == nil }
        for stream in new.streams where streams.slots[stream.name] == nil {
            add(stream, continuousCount: continuousCount, at: now)
        }
        streams.arrange(by: new.streams.map(\.name))
        reconfigurePlaces(at: now)
        book.configure(new, hosts: streams.alertedHosts)
        objectives.keep(new.objectives, slots: Set(streams.slots.values))
        let concerned = streams.slots.mapValues { slot in
            Set((streams[slot]?.alerts ?? []).map { new.alerts[$0].name })
        }
        for key in engine.keep(where: { concerned[$0.stream]?.contains($0.alert) ?? false }) {
            book.resolves(key.alert, of: key.stream, isWatched: streams.slots[key.stream] != nil, at: now)
        }
        return effects
    }

    /// Applies the configuration to a stream.
    mutating func configure(_ slot: Int, as stream: WatchedStream) {
        let (alerts, windows) = (configuration.alerts, windows)
        streams.change(slot) { state in
            state.stream = stream
            state.configure(alerts, windows: windows)
        }
    }

    /// Notes that a new configuration could not be read: the current one stays.
    package mutating func note(_ failure: FailedReload) { reloads.note(failure) }

    /// Stops all sessions; the model starts no more.
    package mutating func stop(at now: Timestamp) -> [MonitorEffect] {
        isStopping = true
        // Also streams that were removed and still play.
        return streams.all.map(\.slot).sorted().flatMap { stop($0, at: now) }
    }
}

extension WatchedStream {
    /// Whether a session of `other` is also a session of this stream: labels and backends may differ.
    fileprivate func playsLike(_ other: WatchedStream) -> Bool {
        url == other.url && player == other.player && profile == other.profile && schedule == other.schedule
            && checks == other.checks && headers == other.headers
    }
}
