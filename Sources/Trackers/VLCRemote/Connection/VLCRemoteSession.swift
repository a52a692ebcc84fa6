internal import Dispatch
internal import Instrument
internal import InstrumentJSON

/// Asks a VLC again and again, and drives the model with its answers.
///
/// Everything that happens, happens on one serial queue, which waits for answers. What others may read stands behind a
/// lock.
final class VLCRemoteSession: Sendable {
    private struct State {
        var isBegun = false
        /// Whether a close was asked for: a question that waits for its answer ends then.
        var isClosing = false
        var isConnected = false
        var hasBadAnswer = false
        var isAbsenceReported = false
        /// The item whose address is known, and the address.
        var item: Int?
        var source: String?
        var alarm: ScheduledAction?
        var ending: VLCRemoteEnding?
    }

    private static let statusPath = "/requests/status.json"
    private static let playlistPath = "/requests/playlist.json"

    let configuration: VLCRemoteConfiguration
    let outlet = SignalOutlet<VLCRemoteModel, PlayerSignal> { VLCRemoteModel() }
    private let question: VLCQuestion
    private let clock: any SchedulingClock
    private let report: @Sendable (VLCRemoteDiagnostic) -> Void
    private let queue = DispatchQueue(label: "instrument.vlc-remote")
    private let state = Lock(State())
    private let ended = Gate()

    init(
        _ question: VLCQuestion,
        _ configuration: VLCRemoteConfiguration,
        _ clock: any SchedulingClock,
        _ report: @escaping @Sendable (VLCRemoteDiagnostic) -> Void
    ) {
        (self.question, self.configuration, self.clock, self.report) = (question, configuration, clock, report)
    }

    var isConnected: Bool { state.withLock { $0.isConnected } }

    var status: PlayerStatus {
        let now = clock.now
        return outlet.read { $0.status(at: now) }
    }

    func listen(_ listener: (@Sendable (PlayerSignal) -> Void)?) { _ = outlet.listen(listener) }

    func begin() {
        let isFirst = state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun && state.ending == nil
        }
        if isFirst { queue.async { [weak self] in self?.ask() } }
    }

    /// Ends the session once all pending signals are reported. It cannot be restarted.
    func close() {
        state.withLock { $0.isClosing = true }
        queue.async { [self] in finish(.closed) }
    }

    func waitUntilGone() async -> VLCRemoteEnding {
        await ended.wait()
        return state.withLock { $0.ending } ?? .closed
    }

    // MARK: - On the queue

    private var isOver: Bool { state.withLock { $0.isClosing || $0.ending != nil } }

    private func ask() {
        if isOver { return }
        let sent = clock.now
        do throws(VLCQuestion.Failure) {
            let value = try ask(Self.statusPath)
            let received = clock.now
            guard let status = VLCStatus(value) else {
                throw .notVLC("\(question.address): no VLC listens there, because its answer has no state")
            }
            noteConnected()
            take(status, at: sent.advanced(by: sent.duration(to: received) / 2))
            repeatLater(after: configuration.interval)
        } catch {
            failed(error)
        }
    }

    private func ask(_ path: String) throws(VLCQuestion.Failure) -> JSONValue {
        try question.ask(path, configuration.answerTimeout) { [weak self] in self?.isOver ?? true }
    }

    private func take(_ status: VLCStatus, at instant: MonotonicInstant) {
        if isOver { return }
        let isKnown = state.withLock { $0.item == status.item }
        if status.state != .stopped, status.item >= 0, !isKnown {
            let playlist = try? ask(Self.playlistPath)
            let source = playlist.flatMap { VLCPlaylist.address(of: status.item, in: $0) }
            state.withLock { ($0.item, $0.source) = (status.item, source.map { SourceText.location($0) }) }
        }
        let source = state.withLock { $0.source }
        var isLate = false
        outlet.change { model in
            let signals = model.observe(status, source: source, at: instant)
            isLate = signals.first?.action == .streamLoad && signals.first?.attributes[.joinedLate] == true
            return signals
        }
        if isLate { report(VLCRemoteDiagnostic(.joinedLate, "joined a playback that had begun before")) }
    }

    private func failed(_ failure: VLCQuestion.Failure) {
        if isOver { return }
        let wasConnected = isConnected
        switch failure {
        case .refused(let reason) where !wasConnected: finish(.notThere(reason: reason))
        // One answer that is not VLC's does not end what was measured until now.
        case .notVLC(let reason) where wasConnected:
            let isFirst = state.withLock { state in
                defer { state.hasBadAnswer = true }
                return !state.hasBadAnswer
            }
            if isFirst { report(VLCRemoteDiagnostic(.badAnswer, "skipped an answer of the player: \(reason)")) }
            repeatLater(after: configuration.interval)
        case .silent(let reason): lost(reason, failure: "the player answers no more")
        case .notThere(let reason), .refused(let reason), .notVLC(let reason): lost(reason, failure: nil)
        }
    }

    /// The player is not there, or no more.
    private func lost(_ reason: String, failure: String?) {
        let now = clock.now
        let wasConnected = state.withLock { state in
            defer { (state.isConnected, state.item, state.source) = (false, nil, nil) }
            return state.isConnected
        }
        if wasConnected {
            report(VLCRemoteDiagnostic(.disconnected, "the player answers no more: \(reason)"))
            outlet.change { $0.gone(failure, at: now) }
        }
        guard configuration.waitsForPlayer else {
            return finish(wasConnected ? .playerWentAway(reason: reason) : .notThere(reason: reason))
        }
        let isFirst = state.withLock { state in
            defer { state.isAbsenceReported = true }
            return !state.isAbsenceReported
        }
        if isFirst { report(VLCRemoteDiagnostic(.notThere, "no player there: \(reason)")) }
        repeatLater(after: configuration.retryDelay)
    }

    private func noteConnected() {
        let isNews = state.withLock { state in
            let isNews = !state.isConnected
            if isNews { (state.isConnected, state.hasBadAnswer, state.isAbsenceReported) = (true, false, false) }
            return isNews
        }
        if isNews { report(VLCRemoteDiagnostic(.connected, "connected to the player")) }
    }

    private func repeatLater(after delay: Duration) {
        let alarm = clock.schedule(at: clock.now.advanced(by: delay)) { [weak self] in
            self?.queue.async { [weak self] in self?.ask() }
        }
        state.withLock { $0.alarm = alarm }
    }

    /// Ends the session; only the first call has an effect.
    private func finish(_ ending: VLCRemoteEnding) {
        let now = clock.now
        let (isFirst, alarm) = state.withLock { state in
            let isFirst = state.ending == nil
            if isFirst { (state.ending, state.isConnected) = (ending, false) }
            return (isFirst, state.alarm)
        }
        guard isFirst else { return }
        alarm?.cancel()
        outlet.change { $0.detached(at: now) }
        ended.open()
    }
}
