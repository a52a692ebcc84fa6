internal import Dispatch
package import Instrument
internal import InstrumentJSON
package import InstrumentMonitor
package import InstrumentWatch

/// Starts and stops the sessions of streams.
package protocol SessionSource: Sendable {
    /// Starts a session; returns at once. `report` takes the session's reports from any thread, in order; the last is
    /// ``MonitorInput/ended(_:)``.
    func start(_ id: SessionID, _ stream: WatchedStream, report: @escaping @Sendable (MonitorInput) -> Void)
    /// Asks a session to stop; returns at once.
    func stop(_ id: SessionID)
}

/// Checks streams beside their sessions, because a person wants to know now.
package protocol StreamChecker: Sendable {
    /// Starts a check; returns at once. `report` takes what the check finds from any thread, in order; the last is
    /// ``CheckProgress/ended(_:)``.
    func check(_ stream: WatchedStream, report: @escaping @Sendable (CheckProgress) -> Void)
    /// Ends the checks that run, soon.
    func cancelChecks()
}

/// Takes the messages about alerts.
package protocol AlertSink: Sendable {
    /// Takes a message; once this method returns, the message is as durable as the sink can make it.
    func send(_ message: AlertMessage)
}

/// Keeps the bytes of the history for the next process. Methods may block, and are called one at a time.
package protocol HistoryStore: Sendable {
    /// Replaces the whole history.
    /// - Parameter next: returns the next piece of the bytes, and nil behind the last.
    /// - Returns: whether the bytes are kept.
    func replace(_ next: () -> [UInt8]?) -> Bool
    /// Appends to the history.
    /// - Returns: whether the bytes are kept.
    func append(_ bytes: [UInt8]) -> Bool
}

/// Runs a ``MonitorModel``: passes time and reports to it, and carries out its effects in order.
///
/// All work of the model is done on one dispatch queue, so that a session that reports often, or a page that is
/// rendered, delays no other session for long. May be used from any thread.
package final class Monitor: Sendable {
    private let queue = DispatchQueue(label: "instrument.monitor")
    private let model: Lock<MonitorModel>
    private let source: any SessionSource
    private let sink: any AlertSink
    private let checker: (any StreamChecker)?
    private let clock: any SchedulingClock
    private let save: (@Sendable ([UInt8]) -> Void)?
    private let history: HistoryKeeper?
    /// A disk may take seconds to answer: files are written beside the work of the model, in the order of their making.
    private let stateQueue = DispatchQueue(label: "instrument.monitor.state")
    /// The history of many streams is large.
    private let historyQueue = DispatchQueue(label: "instrument.monitor.history")
    private let evidence: any EvidenceStore
    private let evidenceQueue = DispatchQueue(label: "instrument.monitor.evidence")
    /// The bytes of evidence that wait for the disk.
    private let waitingEvidence = Lock(0)
    /// On a disk that does not answer, further evidence is not kept.
    private static let mostWaitingEvidence = 16 << 20
    private let timer = Lock<Timer>(Timer())

    private struct Timer {
        var deadline: MonotonicInstant?
        var action: ScheduledAction?
        var isClosed = false
        var lastTick: MonotonicInstant?
        var lastSave: MonotonicInstant?
        var savedChanges = 0
        var lastHistory: MonotonicInstant?
        var waiters: [Gate] = []
    }

    /// The interval between two saves of the state.
    private static let saveInterval = Duration.seconds(60)
    private static let historyInterval = Duration.seconds(60)
    /// The shortest interval between two saves because something changed, and what each stream adds.
    private static let shortestInterval = (Duration.seconds(5), Duration.milliseconds(1))

    /// Creates a monitor; ``start()`` starts it.
    /// - Parameters:
    ///   - save: stores the state of alerts for the next process; may block.
    ///   - history: stores the history of streams for the next process.
    ///   - evidence: keeps the bytes of evidence.
    ///   - checker: performs the checks that people ask for; without one, they are refused.
    package init(
        _ model: MonitorModel,
        source: any SessionSource,
        sink: any AlertSink,
        clock: any SchedulingClock = SystemClock(),
        save: (@Sendable ([UInt8]) -> Void)? = nil,
        history: (any HistoryStore)? = nil,
        evidence: any EvidenceStore = EvidenceMemory(),
        checker: (any StreamChecker)? = nil
    ) {
        (self.evidence, self.checker) = (evidence, checker)
        self.model = Lock(model)
        (self.source, self.sink, self.clock, self.save) = (source, sink, clock, save)
        self.history = history.map { HistoryKeeper($0) }
    }

    /// Starts the sessions, each at its time.
    package func start() { post { model, now in model.advance(to: now) } }

    /// Replaces the configuration; streams that did not change play on.
    package func reload(_ configuration: WatchConfiguration) {
        post { model, now in model.reload(configuration, at: now) }
    }

    /// Ends the wait of a stream for its next session; a session without a picture is replaced. The audit log has who
    /// asked for it.
    package func tryNow(_ name: String, by person: String) async -> TryOutcome {
        await withCheckedContinuation { continuation in
            post { model, now in
                let (outcome, effects) = model.tryNow(name, at: now)
                if outcome.refusal == nil {
                    model.record(AuditEntry(time: now.wallTime, by: person, action: "try", target: name))
                }
                continuation.resume(returning: outcome)
                return effects
            }
        }
    }

    /// Checks a stream at once. The audit log has who asked for it.
    package func checkNow(_ name: String, by person: String) async -> CheckOutcome {
        guard checker != nil else { return .noChecks }
        return await withCheckedContinuation { continuation in
            post { model, now in
                let (outcome, effects) = model.checkNow(name, at: now)
                if outcome.refusal == nil {
                    model.record(AuditEntry(time: now.wallTime, by: person, action: "check", target: name))
                }
                continuation.resume(returning: outcome)
                return effects
            }
        }
    }

    /// Takes samples of other monitors; returns once the model has them, so that a source is read no faster.
    package func take(_ batch: SampleBatch) async {
        await withCheckedContinuation { continuation in
            post { model, now in
                model.take(batch, at: now)
                continuation.resume()
                return []
            }
        }
    }

    /// Notes that the source of samples cannot be read.
    package func note(sourceFailure reason: String) {
        post { model, now in
            model.note(sourceFailure: reason, at: now)
            return []
        }
    }

    /// Notes that a new configuration could not be read.
    package func note(_ failure: FailedReload) {
        post { model, _ in
            model.note(failure)
            return []
        }
    }

    /// Performs an action of a person on an incident or a silence, and saves the state.
    package func act(_ action: IncidentAction, by person: String) async -> Result<String, IncidentActionError> {
        await withCheckedContinuation { continuation in
            post(isSaved: true) { model, now in
                let (result, effects) = model.act(action, by: person, at: now)
                continuation.resume(returning: result)
                return effects
            }
        }
    }

    /// The entry and the bytes of a piece of evidence; nil for one that is not kept, or no longer.
    package func evidence(_ id: String) async -> (entry: EvidenceEntry, bytes: [UInt8])? {
        guard let entry = model.withLock({ $0.evidence[id] }) else { return nil }
        // Behind the pieces that are still to be written.
        let bytes = await withCheckedContinuation { continuation in
            evidenceQueue.async { [evidence] in continuation.resume(returning: evidence.read(id)) }
        }
        return bytes.map { (entry, $0) }
    }

    /// The requests of a stream as an HTTP Archive: those before its latest cause began, else its latest ones; nil for
    /// an unknown name.
    package func archive(of name: String) async -> [UInt8]? {
        switch MonitorDocuments(of: state, at: clock.timestamp).archive(of: name) {
        case .latest(let archive)?: archive.bytes
        case .kept(let id)?: await evidence(id)?.bytes
        case nil: nil
        }
    }

    /// Notes which receivers of alerts do not get their messages.
    package func note(_ undelivered: [UndeliveredMessages]) {
        post { model, _ in
            model.note(undelivered)
            return []
        }
    }

    /// The state now, as a copy.
    package var state: MonitorModel { model.withLock { $0 } }

    /// The state for a page that shows counters at `now`, as a copy: no later page shows less.
    package func shown(at now: MonotonicInstant) -> MonitorModel { model.withLock { $0.shown(at: now) } }

    /// What pages show at `now`: no later page shows less.
    package func documents(at now: Timestamp) -> MonitorDocuments {
        MonitorDocuments(of: shown(at: now.instant), at: now)
    }

    /// Whether the model has worked within the last half minute.
    package var isResponsive: Bool {
        guard let last = timer.withLock({ $0.lastTick }) else { return false }
        return last.duration(to: clock.now) < .seconds(30)
    }

    /// Stops all sessions, and waits until they have ended, but not longer than `timeout`; then saves the state.
    package func stop(timeout: Duration) async {
        checker?.cancelChecks()
        let gate = Gate()
        let alarm = clock.schedule(at: clock.now.advanced(by: timeout)) { gate.open() }
        post { [self] model, now in
            let effects = model.stop(at: now)
            timer.withLock { $0.waiters.append(gate) }
            return effects
        }
        await gate.wait()
        alarm.cancel()
        let action = timer.withLock { timer -> ScheduledAction? in
            timer.isClosed = true
            return timer.action
        }
        action?.cancel()
        queue.sync { saveState() }
        stateQueue.sync {}
        evidenceQueue.sync {}
        if let history {
            let model = state
            let now = model.historyTime(at: clock.timestamp)
            historyQueue.sync { history.keep(model, isLast: true, at: now) }
        }
    }

    /// Waits until all reports so far are processed. For tests.
    package func settle() async {
        await withCheckedContinuation { continuation in
            queue.async { [stateQueue, historyQueue, evidenceQueue] in
                stateQueue.async { historyQueue.async { evidenceQueue.async { continuation.resume() } } }
            }
        }
    }

    private func post(
        isSaved: Bool = false,
        _ work: @escaping @Sendable (inout MonitorModel, Timestamp) -> [MonitorEffect]
    ) {
        queue.async { [self] in
            let now = clock.timestamp
            let effects = model.withLock { work(&$0, now) + $0.evidence.takeRequests() }
            timer.withLock { $0.lastTick = now.instant }
            for effect in effects { perform(effect) }
            let hasMessages = effects.contains { if case .notify = $0 { true } else { false } }
            saveIfDue(at: now.instant, isForced: hasMessages || isSaved)
            finishTurn()
        }
    }

    private func perform(_ effect: MonitorEffect) {
        switch effect {
        case .start(let id, let stream):
            source.start(id, stream) { [weak self] input in
                self?.post { model, now in model.handle(input, of: id, at: now) }
            }
        case .stop(let id): source.stop(id)
        case .notify(let message): sink.send(message)
        case .keep(let entry, let bytes): keep(entry, bytes)
        case .check(let slot, let stream):
            checker?.check(stream) { [weak self] progress in
                self?.post { model, now in model.handle(progress, ofCheck: slot, at: now) }
            }
        case .forget(let id): evidenceQueue.async { [evidence] in evidence.remove(id) }
        }
    }

    private func keep(_ entry: EvidenceEntry, _ bytes: [UInt8]) {
        let hasRoom = waitingEvidence.withLock { waiting in
            guard waiting + bytes.count <= Self.mostWaitingEvidence else { return false }
            waiting += bytes.count
            return true
        }
        guard hasRoom else { return }
        evidenceQueue.async { [evidence, waitingEvidence] in
            evidence.keep(entry, bytes)
            waitingEvidence.withLock { $0 -= bytes.count }
        }
    }

    private func finishTurn() {
        let (deadline, isIdle) = model.withLock { ($0.nextDeadline, $0.isStopping && $0.isIdle) }
        if isIdle {
            let gates = timer.withLock { timer in
                defer { timer.waiters = [] }
                return timer.waiters
            }
            for gate in gates { gate.open() }
        }
        let old = timer.withLock { timer -> (ScheduledAction?, Bool) in
            if timer.isClosed || timer.deadline == deadline { return (nil, false) }
            timer.deadline = deadline
            return (timer.action, true)
        }
        guard old.1 else { return }
        old.0?.cancel()
        let action = clock.schedule(at: deadline) { [weak self] in
            self?.timer.withLock { $0.deadline = nil }
            self?.post { model, now in model.advance(to: now) }
        }
        timer.withLock { $0.action = action }
    }

    private func saveIfDue(at now: MonotonicInstant, isForced: Bool) {
        let (changes, count) = model.withLock { ($0.lastingChanges, $0.streams.order.count) }
        let isDue = timer.withLock { timer in
            let interval =
                timer.savedChanges == changes
                ? Self.saveInterval : Self.shortestInterval.0 + Self.shortestInterval.1 * count
            if !isForced, let last = timer.lastSave, last.duration(to: now) < interval { return false }
            if !isForced, timer.lastSave == nil {
                timer.lastSave = now
                return false
            }
            (timer.lastSave, timer.savedChanges) = (now, changes)
            return true
        }
        if isDue { saveState() }
        saveHistoryIfDue(at: now)
    }

    private func saveHistoryIfDue(at now: MonotonicInstant) {
        guard let history else { return }
        let isDue = timer.withLock { timer in
            defer { if timer.lastHistory == nil { timer.lastHistory = now } }
            guard let last = timer.lastHistory, last.duration(to: now) >= Self.historyInterval else { return false }
            timer.lastHistory = now
            return true
        }
        guard isDue else { return }
        let model = state
        let wallTime = model.historyTime(at: clock.timestamp)
        historyQueue.async { history.keep(model, isLast: false, at: wallTime) }
    }

    private func saveState() {
        guard let save else { return }
        let (model, now) = (state, clock.timestamp)
        stateQueue.async { save(SavedMonitor(of: model, at: now).bytes) }
    }
}
