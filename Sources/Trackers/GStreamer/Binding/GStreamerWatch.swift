internal import Dispatch
internal import Instrument

/// Observes a pipeline while somebody listens.
///
/// The observation begins and ends on the caller's thread, which is the app's: the app's pipeline is alive there. The
/// pipeline's threads fill a ``GStreamerInbox``; the model and the listener run on one serial queue, so that a listener
/// may use the pipeline, or end the watch.
final class GStreamerWatch: Sendable {
    private struct State {
        var isClosed = false
        var inbox: GStreamerInbox?
        var hasOverflowed = false
        var isLookPlanned = false
    }

    /// The least time between two looks at a motion that continues.
    private static let lookInterval = Duration.milliseconds(250)

    private let element: any GStreamerElement
    private let clock: any SchedulingClock
    private let report: @Sendable (GStreamerDiagnostic) -> Void
    private let queue = DispatchQueue(label: "instrument.gstreamer")
    private let outlet = SignalOutlet<GStreamerModel, PlayerSignal> { GStreamerModel() }
    private let state = Lock(State())
    /// Held while an observation begins or ends.
    private let turn = Lock(())

    /// Creates a watch that observes nothing yet.
    init(
        _ element: any GStreamerElement,
        clock: any SchedulingClock,
        report: @escaping @Sendable (GStreamerDiagnostic) -> Void
    ) {
        (self.element, self.clock, self.report) = (element, clock, report)
    }

    /// The status at the moment of the call.
    var status: PlayerStatus {
        let now = clock.now
        let motion = state.withLock { $0.inbox }?.motion
        return outlet.read { model in
            var model = model
            model.motion = motion ?? model.motion
            return model.status(at: now)
        }
    }

    /// Delivers signals to `listener` from now on, from a new model; nil ends the observation.
    func listen(_ listener: (@Sendable (PlayerSignal) -> Void)?) {
        let isObserved = turn.withLock { _ in
            let before = state.withLock { state in
                defer { state.inbox = nil }
                return state.inbox
            }
            let epoch = outlet.listen(listener)
            if let before {
                before.close()
                element.endObserving()
            }
            return listener == nil || state.withLock { $0.isClosed } || observe(epoch)
        }
        // Not in turn: who takes the notice may end the watch.
        guard !isObserved else { return }
        let words = "the element is no GstElement, has no bus or is gone; pass a pipeline"
        report(GStreamerDiagnostic(.cannotObserve, words))
    }

    /// Ends the observation. Later ones do not begin.
    func close() {
        state.withLock { $0.isClosed = true }
        listen(nil)
    }

    /// Waits until everything that was taken has been handled. Not for the queue itself.
    func settle() { queue.sync {} }

    /// Whether the observation has begun.
    private func observe(_ epoch: Int) -> Bool {
        let inbox = GStreamerInbox(on: queue, clock: clock) { [weak self] items, droppedCount in
            self?.handle(items, droppedCount: droppedCount, epoch)
        }
        state.withLock { $0.inbox = inbox }
        // Before all events: those that come during the call are of the playback that runs.
        let before = element.state()
        if before >= .paused { inbox.take(.joined(isPaused: before == .paused)) }
        guard element.observe(inbox) else {
            inbox.close()
            return false
        }
        // It was taken down before the observation began.
        if before >= .paused, element.state() < .paused {
            inbox.take(.state(from: before, to: .ready, pending: .none))
        }
        return true
    }

    // MARK: - On the queue

    private func handle(_ items: [GStreamerInbox.Item], droppedCount: Int, _ epoch: Int) {
        for item in items {
            guard outlet.isCurrent(epoch) else { return }
            switch item {
            case .observed(let observation, let instant, let motion):
                take(observation, at: instant, beside: motion, epoch)
            case .impossible(let value):
                report(GStreamerDiagnostic(.impossibleValue, "GStreamer reported \(value); the tracker ignores it"))
            case .noMessages:
                let words = "the bus shows no message: the app's sync handler must pass messages (it drops all of them)"
                report(GStreamerDiagnostic(.noMessages, words))
            }
        }
        noteOverflow(droppedCount)
        planLook(epoch)
    }

    private func noteOverflow(_ count: Int) {
        let isFirst = state.withLock { state in
            defer { state.hasOverflowed = state.hasOverflowed || count > 0 }
            return count > 0 && !state.hasOverflowed
        }
        if isFirst {
            report(GStreamerDiagnostic(.overflow, "GStreamer reported events too fast: \(count) of them are lost"))
        }
    }

    private func take(
        _ observation: GStreamerObservation,
        at instant: MonotonicInstant,
        beside motion: GStreamerMotion,
        _ epoch: Int
    ) {
        let phase = outlet.read { $0.phase }
        if case .joined = observation, phase == .idle {
            report(GStreamerDiagnostic(.joinedLate, "a playback was running; its start time is not known"))
            readSource(at: instant, epoch)
        }
        switch observation {
        case .event(.state(_, let new, let pending)) where phase == .idle && max(new, pending) >= .paused:
            readSource(at: instant, epoch)
        case .event(.thread) where phase == .idle: readSource(at: instant, epoch)
        case .event(.streamStart): readSource(at: instant, epoch)
        default: break
        }
        outlet.change(in: epoch) { model in
            model.motion = motion
            return model.observe(observation, at: instant)
        }
    }

    private func readSource(at instant: MonotonicInstant, _ epoch: Int) {
        let source = element.source().map { SourceText.location($0) }
        outlet.change(in: epoch) { $0.observe(.source(source), at: instant) }
    }

    /// Looks again when a playhead that is not heard of stands, or a model waits for time; one timer at a time.
    private func planLook(_ epoch: Int) {
        guard let inbox = state.withLock({ $0.inbox }) else { return }
        let due = [inbox.motion.runsDry, outlet.read { $0.decisionDue }].compactMap { $0 }.min()
        guard let due, outlet.isCurrent(epoch) else { return }
        let isNeeded = state.withLock { state in
            defer { state.isLookPlanned = true }
            return !state.isLookPlanned
        }
        guard isNeeded else { return }
        let now = clock.now
        let instant = max(due, now.advanced(by: Self.lookInterval))
        _ = clock.schedule(at: instant) { [weak self] in
            self?.queue.async { [weak self] in
                guard let self else { return }
                let inbox = state.withLock { state in
                    state.isLookPlanned = false
                    return state.inbox
                }
                // A bus that is flushing, as that of a GstPlay when it stops, drops the messages of the changes.
                if outlet.read({ $0.phase }) == .playing, element.state() < .paused {
                    inbox?.take(.state(from: .paused, to: .ready, pending: .none))
                } else {
                    inbox?.look()
                }
            }
        }
    }
}
