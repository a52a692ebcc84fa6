internal import Dispatch
internal import Instrument
internal import InstrumentMPV

/// Drives mpv's model by the events of a client.
///
/// libmpv wakes on its own threads; everything else runs on one serial queue. Events are taken also while nobody
/// listens: an app that destroys its player waits for all clients to go.
final class LibMPVWatch: Sendable {
    private struct State {
        var model = MPVModel()
        var requests = MPVRequests()
        var observer: (@Sendable (PlayerSignal) -> Void)?
        /// Counts listenings, so that what was asked for an earlier one is ignored.
        var epoch = 0
        var isObserving = false
        var isClosed = false
        var isWoken = false
        var hasOverflowed = false
    }

    private let client: any LibMPVClient
    private let clock: any SchedulingClock
    private let report: @Sendable (MPVDiagnostic) -> Void
    private let queue = DispatchQueue(label: "instrument.libmpv")
    private let state = Lock(State())

    /// Creates a watch that reports nothing yet.
    init(
        _ client: any LibMPVClient,
        clock: any SchedulingClock,
        report: @escaping @Sendable (MPVDiagnostic) -> Void
    ) {
        (self.client, self.clock, self.report) = (client, clock, report)
        queue.async { [weak self] in
            guard let self else { return client.destroy() }
            let isThere = client.wake { [weak self] in self?.woken() }
            if isThere { return drain() }
            state.withLock { $0.isClosed = true }
            report(.notThere(reason: "libmpv made no client, because the player ends or has no memory"))
        }
    }

    /// The status at the moment of the call.
    var status: PlayerStatus { state.withLock { $0.model.status } }

    /// Reports signals to `observer` from now on, from a new model; nil ends the reports. Returns at once.
    func listen(_ observer: (@Sendable (PlayerSignal) -> Void)?) {
        let epoch = state.withLock { state in
            state.epoch += 1
            state.observer = observer
            return state.epoch
        }
        queue.async { [self] in
            let isCurrent = state.withLock { $0.epoch == epoch && !$0.isClosed }
            if isCurrent { begin(isWanted: observer != nil) }
        }
    }

    /// Destroys the client on the queue. Returns at once; signals end with the return.
    func close() {
        state.withLock { state in
            state.epoch += 1
            state.observer = nil
        }
        queue.async { [self] in end() }
    }

    /// Waits until everything that was asked for before has happened. Not for the queue itself.
    func settle() { queue.sync {} }

    // MARK: - On the queue

    private func begin(isWanted: Bool) {
        let wasObserving = state.withLock { state in
            defer { state.isObserving = isWanted }
            state.requests.forget()
            return state.isObserving
        }
        if wasObserving { client.endObserving() }
        // What waits belongs to the listening before.
        while client.nextEvent().map(isShutdown) == false {}
        if state.withLock({ $0.isClosed }) { return }
        guard isWanted else { return state.withLock { $0.model = MPVModel() } }
        client.observe(MPVProperty.allCases)
        perform(state.withLock { $0.model.connected() })
        report(.connected)
        drain()
    }

    /// Whether the client has ended.
    private func isShutdown(_ event: LibMPVEvent) -> Bool {
        guard event == .event(.shutdown) else { return false }
        end()
        return true
    }

    private func woken() {
        let isFirst = state.withLock { state in
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if isFirst { queue.async { [weak self] in self?.drain() } }
    }

    private func drain() {
        state.withLock { $0.isWoken = false }
        while !state.withLock({ $0.isClosed }), let event = client.nextEvent() {
            let isObserving = state.withLock { $0.isObserving }
            switch event {
            case .event(.shutdown): shutDown()
            case .overflow: noteOverflow()
            case .event(let event): if isObserving { change { $0.handle(event, at: $1) } }
            case .reply(let number, let value):
                guard isObserving, let answers = state.withLock({ $0.requests.take(number, value) }) else { continue }
                change { $0.answered(answers, at: $1) }
            }
        }
    }

    /// The app destroys its player, and waits for this client to go.
    private func shutDown() {
        if state.withLock({ $0.isObserving }) {
            change { $0.handle(.endFile(.quit), at: $1) + $0.handle(.shutdown, at: $1) + $0.disconnected(at: $1) }
            report(.disconnected(reason: "the app ended the player"))
        }
        end()
    }

    private func end() {
        let isFirst = state.withLock { state in
            defer { (state.isClosed, state.isObserving) = (true, false) }
            return !state.isClosed
        }
        if isFirst { client.destroy() }
    }

    private func noteOverflow() {
        let isFirst = state.withLock { state in
            defer { state.hasOverflowed = true }
            return !state.hasOverflowed
        }
        if isFirst { report(MPVDiagnostic(.overflow, "libmpv had too many events, and dropped some")) }
    }

    private func change(_ body: (inout MPVModel, MonotonicInstant) -> [MPVModel.Effect]) {
        let now = clock.now
        perform(state.withLock { body(&$0.model, now) })
    }

    private func perform(_ effects: [MPVModel.Effect]) {
        for effect in effects {
            switch effect {
            case .ask(let question):
                for request in state.withLock({ $0.requests.open(question) }) { client.ask(request) }
            case .signal(let signal):
                if signal.action == .streamLoad, signal.attributes[.joinedLate] == true { report(.joinedLate) }
                state.withLock { $0.observer }?(signal)
            }
        }
    }
}
