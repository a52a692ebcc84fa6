internal import Instrument

/// Plays with one engine after another and looks like one player to observers: the stream engine takes over where media
/// turns out to be a playlist, and a new engine plays each repetition.
///
/// A playlist that the media engine recognises is fetched a second time by the stream engine. The `MediaRequest`,
/// `PrepareItem`, `StreamLoad` and `BufferBegin` that were reported already are not reported again.
final class RelayEngine: PlaybackEngine {
    /// Makes an idle engine, for a stream or for progressive media.
    typealias Maker = @Sendable (_ isStream: Bool) -> any PlaybackEngine

    private enum Mode { case idle, realTime, virtual }

    private struct State {
        var engine: any PlaybackEngine
        var isStream: Bool
        /// False for files: a playlist in a file names resources of a server that is unknown.
        let mayBeStream: Bool
        /// The number of repetitions that follow; nil for repetitions without an end.
        var repetitions: Int?
        var mode = Mode.idle
        var isStopped = false
        var isPaused = false
        var rate: Double?
        /// The target of a seek that the first engine may not have performed.
        var position: Int64?
        /// Actions that the previous engine has reported and this engine must not repeat.
        var reported: Set<Action> = []
        var isHeld = false
        var markers: (all: [PlaybackMarker], position: Int64)?
        var observer: (@Sendable (PlaybackNews) -> Void)?
        var requests: (@Sendable (RequestRecord) -> Void)?

        var isWrongEngine: Bool {
            guard case .failed(let error) = engine.outcome else { return false }
            return mayBeStream && !isStream && error.code == .playlist
        }
        var hasSuccessor: Bool {
            if isStopped { return false }
            return isWrongEngine || (engine.outcome == .ended && repetitions != 0)
        }
        /// The outcome of the last engine; nil before it has one.
        var outcome: ProbeOutcome? {
            if hasSuccessor { return nil }
            return isWrongEngine ? .stopped : engine.outcome
        }

        /// Remembers a command for the engines that follow.
        mutating func note(_ command: PlaybackCommand) {
            switch command {
            case .play: begin(.realTime)
            case .pause: isPaused = true
            case .resume: isPaused = false
            case .seek(let position): self.position = position
            case .setRate(let rate): self.rate = rate
            case .stop: isStopped = true
            case .hold: isHeld = true
            case .release: isHeld = false
            case .relocate(let position): self.position = position
            case .noteAd: break
            case .mark(let all, let position): markers = (all, position)
            }
        }

        /// The first mode stays.
        mutating func begin(_ mode: Mode) { if self.mode == .idle { self.mode = mode } }
    }

    private let make: Maker
    private let state: Lock<State>

    /// - Parameters:
    ///   - isStream: whether the source is known to be a stream.
    ///   - mayBeStream: whether the source can turn out to be a stream.
    ///   - playCount: how many times the source is played; nil for repetitions without an end.
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

    var isBusy: Bool { engine.isBusy }
    func report(newsTo observer: (@Sendable (PlaybackNews) -> Void)?) { state.withLock { $0.observer = observer } }
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {
        state.withLock { $0.requests = observer }
    }

    func perform(_ command: PlaybackCommand) {
        let engine = change { $0.note(command) }
        engine.perform(command)
        guard command == .stop, engine.outcome != nil else { return }
        // Another thread may still deliver signals, through this relay, which the release of the probe would free.
        Task {
            _ = await engine.waitUntilFinished()
            withExtendedLifetime(self) {}
        }
    }

    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        var current = begin(.virtual)
        while true {
            let outcome = current.playThrough(advancing: clock)
            let next = engine
            guard next !== current else { return outcome == nil ? nil : self.outcome }
            current = next
        }
    }

    func waitUntilFinished() async -> ProbeOutcome? {
        while true {
            let current = engine
            guard let last = await current.waitUntilFinished() else { return nil }
            // The delivery of an engine's last signal installs the next engine, if one follows.
            if engine === current { return outcome ?? last }
        }
    }

    private func begin(_ mode: Mode) -> any PlaybackEngine {
        change { $0.begin(mode) }
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
        engine.report(newsTo: { [weak self] in self?.received($0) })
        engine.report(requestsTo: { [weak self] record in self?.state.withLock { $0.requests }?(record) })
    }

    /// Passes a signal on; an engine's last signal starts the next engine.
    private func received(_ news: PlaybackNews) {
        guard case .signal(let signal) = news else {
            state.withLock { $0.observer }?(news)
            return
        }
        let (observer, isRepeated, isWrongEngine) = state.withLock { state in
            (state.observer, state.reported.remove(signal.action) != nil, state.isWrongEngine)
        }
        let isPlaylist = signal.action == .error && isWrongEngine
        if !isRepeated, !isPlaylist { observer?(news) }
        if isPlaylist || signal.action == .end { handOver() }
    }

    private func handOver() {
        guard state.withLock({ $0.hasSuccessor }) else { return }
        let isStream = state.withLock { $0.isStream || $0.isWrongEngine }
        let next = make(isStream)
        watch(next)
        let earlier: State? = state.withLock { state in
            guard state.hasSuccessor else { return nil }
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
        if let rate = earlier.rate { next.perform(.setRate(rate)) }
        if earlier.isWrongEngine, let position = earlier.position { next.perform(.seek(to: position)) }
        if earlier.isPaused { next.perform(.pause) }
        if earlier.isHeld { next.perform(.hold) }
        if let markers = earlier.markers, earlier.isWrongEngine {
            next.perform(.mark(markers.all, from: markers.position))
        }
        if earlier.mode == .realTime { next.perform(.play) }
    }
}
