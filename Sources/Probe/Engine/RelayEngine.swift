internal import Instrument

/// Plays by one engine after another: by the one for streams where media turns out to be a playlist, and from the beginning
/// again where that is wanted. For who watches it is one player.
///
/// What turns out to be a playlist has been fetched in vain once; its `MediaRequest`, `PrepareItem`, `StreamLoad` and
/// `BufferBegin` stand, and are not reported again.
final class RelayEngine: PlaybackEngine {
    /// Makes an engine that has not begun, for a stream or for one piece of media.
    typealias Maker = @Sendable (_ isStream: Bool) -> any PlaybackEngine

    private enum Mode { case idle, realTime, virtual }

    private struct State {
        var engine: any PlaybackEngine
        var isStream: Bool
        /// A playlist in a file is not played: there is no server to ask for what it names.
        let mayBeStream: Bool
        /// How many more times it is played; nil without an end.
        var repetitions: Int?
        var mode = Mode.idle
        var isStopped = false
        var isPaused = false
        var rate: Double?
        /// A jump that the first engine may not have come to.
        var position: Int64?
        /// What the engine before has reported in this one's place.
        var reported: Set<Action> = []
        var observer: (@Sendable (PlayerSignal) -> Void)?
        var requests: (@Sendable (RequestRecord) -> Void)?

        var isWrongEngine: Bool {
            guard case .failed(let error) = engine.outcome else { return false }
            return mayBeStream && !isStream && error.code == .playlist
        }
        var willGoOn: Bool {
            if isStopped { return false }
            return isWrongEngine || (engine.outcome == .ended && repetitions != 0)
        }
        /// The outcome of all; nil as long as there is none.
        var outcome: ProbeOutcome? {
            if willGoOn { return nil }
            return isWrongEngine ? .stopped : engine.outcome
        }
    }

    private let make: Maker
    private let state: Lock<State>

    /// - Parameters:
    ///   - isStream: whether it is known to be a stream.
    ///   - mayBeStream: whether it can turn out to be one.
    ///   - playCount: how many times it is played; nil without an end.
    init(isStream: Bool, mayBeStream: Bool, playCount: Int?, make: @escaping Maker) {
        self.make = make
        let first = make(isStream)
        let repetitions = playCount.map { max(0, $0 - 1) }
        state = Lock(
            State(engine: first, isStream: isStream, mayBeStream: mayBeStream, repetitions: repetitions)
        )
        watch(first)
    }

    private var engine: any PlaybackEngine { state.withLock { $0.engine } }

    var status: PlayerStatus { engine.status }
    var outcome: ProbeOutcome? { state.withLock { $0.outcome } }
    var progress: ProbeProgress {
        let (engine, isOver) = state.withLock { ($0.engine, $0.outcome != nil) }
        var progress = engine.progress
        // Between two engines.
        if progress.state == .finished, !isOver { progress.state = .loading }
        return progress
    }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {
        state.withLock { $0.requests = observer }
    }

    func play() { begin(.realTime).play() }

    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        var current = begin(.virtual)
        while true {
            let outcome = current.playThrough(advancing: clock)
            let next = engine
            guard next !== current else { return outcome == nil ? nil : self.outcome }
            current = next
        }
    }

    func waitUntilFinished() async -> ProbeOutcome {
        while true {
            let current = engine
            let last = await current.waitUntilFinished()
            // Its last signal was delivered, and with it the next engine took over, if one does.
            if engine === current { return outcome ?? last }
        }
    }

    func pause() { change { $0.isPaused = true }.pause() }
    func resume() { change { $0.isPaused = false }.resume() }
    func setRate(_ rate: Double) { change { $0.rate = rate }.setRate(rate) }
    func seek(to position: Int64) { change { $0.position = position }.seek(to: position) }
    func stop() {
        let engine = change { $0.isStopped = true }
        engine.stop()
        guard engine.outcome != nil else { return }
        // Another thread may be delivering signals, and the last one is then its to deliver. It passes through this relay, which a
        // probe that is released would take with it.
        Task {
            _ = await engine.waitUntilFinished()
            withExtendedLifetime(self) {}
        }
    }

    private func begin(_ mode: Mode) -> any PlaybackEngine {
        change { if $0.mode == .idle { $0.mode = mode } }
    }

    private func change(_ body: (inout State) -> Void) -> any PlaybackEngine {
        state.withLock { state in
            body(&state)
            return state.engine
        }
    }
}

// MARK: From one engine to the next
extension RelayEngine {
    private func watch(_ engine: any PlaybackEngine) {
        engine.report { [weak self] in self?.received($0) }
        engine.report(requestsTo: { [weak self] record in self?.state.withLock { $0.requests }?(record) })
    }

    /// Passes a signal on; the last one of an engine brings the next.
    private func received(_ signal: PlayerSignal) {
        let (observer, isRepeated, isWrongEngine) = state.withLock { state in
            (state.observer, state.reported.remove(signal.action) != nil, state.isWrongEngine)
        }
        let isPlaylist = signal.action == .error && isWrongEngine
        if !isRepeated, !isPlaylist { observer?(signal) }
        if isPlaylist || signal.action == .end { handOver() }
    }

    private func handOver() {
        guard state.withLock({ $0.willGoOn }) else { return }
        let isStream = state.withLock { $0.isStream || $0.isWrongEngine }
        let next = make(isStream)
        watch(next)
        let earlier: State? = state.withLock { state in
            guard state.willGoOn else { return nil }
            let before = state
            if state.isWrongEngine {
                state.reported = [.mediaRequest, .prepareItem, .streamLoad, .bufferBegin]
            } else {
                state.repetitions = state.repetitions.map { $0 - 1 }
                state.position = nil
                state.reported = []
            }
            (state.engine, state.isStream) = (next, isStream)
            return before
        }
        guard let earlier else { return }
        if let rate = earlier.rate { next.setRate(rate) }
        if earlier.isWrongEngine, let position = earlier.position { next.seek(to: position) }
        if earlier.isPaused { next.pause() }
        if earlier.mode == .realTime { next.play() }
    }
}
