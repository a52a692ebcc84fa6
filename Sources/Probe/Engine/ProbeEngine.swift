internal import Dispatch
internal import Instrument
internal import InstrumentTrackers

/// Drives a playback: a reader brings data while the buffer has room, the clock lets it play.
///
/// In real time the reader blocks on a thread of its own. On a virtual clock it reads inline and advances the clock
/// whenever the buffer is full, so that reading takes no virtual time and a session is the same every time.
final class ProbeEngine: Sendable {
    private enum Order { case read, seek(Int64), wait, finish }

    private struct State {
        var session: PlaybackSession
        var observer: (@Sendable (PlayerSignal) -> Void)?
        var isDelivering = false
        var timer: ScheduledAction?
        var timerInstant: MonotonicInstant?
    }

    /// Nobody pauses a session on a virtual clock for longer.
    private static let longestPause: Duration = .seconds(24 * 3600)

    private let source: MediaSource
    private let configuration: ProbeConfiguration
    private let clock: any SchedulingClock
    private let interrupt = Interrupt()
    private let state: Lock<State>
    private let wake = DispatchSemaphore(value: 0)
    private let finished = Gate()

    init(source: MediaSource, configuration: ProbeConfiguration, clock: any SchedulingClock) {
        self.source = source
        self.configuration = configuration
        self.clock = clock
        state = Lock(State(session: PlaybackSession(source: source, configuration: configuration)))
    }

    var status: PlayerStatus { state.withLock { $0.session.status(at: clock.now) } }
    var progress: ProbeProgress { state.withLock { $0.session.progress(at: clock.now) } }
    var outcome: ProbeOutcome? { state.withLock { $0.session.outcome } }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }

    /// Begins to play in real time; does nothing if it has begun.
    func play() {
        guard change({ session, now in session.request(now: now) }) else { return }
        let isRunning = ReaderThread.start {
            self.load {
                self.wake.wait()
                return true
            }
        }
        if isRunning { return }
        let error = ProbeError(.readFailed, .open, source, "the system has no thread left for another probe")
        change { session, now in session.exhausted(error, now: now) }
    }

    /// Plays as fast as data can be read, advancing `clock`; returns when it is over, or when nothing more would happen.
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        guard change({ session, now in session.request(now: now) }) else { return outcome }
        var pausedSince: MonotonicInstant?
        load {
            // While it is paused others' deadlines come and go; pings never end.
            if self.progress.state != .paused {
                pausedSince = nil
            } else if pausedSince == nil {
                pausedSince = clock.now
            }
            guard let next = clock.nextDeadline else { return false }
            if let pausedSince, pausedSince.duration(to: next) > Self.longestPause { return false }
            clock.advance(to: next)
            return true
        }
        return outcome
    }

    func waitUntilFinished() async -> ProbeOutcome {
        await finished.wait()
        return outcome ?? .stopped
    }

    func pause() { change { session, now in session.pause(now: now) } }
    func resume() { change { session, now in session.resume(now: now) } }
    func setRate(_ rate: Double) { change { session, now in session.setRate(rate, now: now) } }
    func seek(to position: Int64) { change { session, now in session.seek(to: position, now: now) } }

    func stop() {
        change { session, now in session.stop(now: now) }
        interrupt.abort()
    }

    /// Opens the source and reads it while there is room; `wait` returns when something may have changed, or false if
    /// nothing ever will.
    private func load(wait: () -> Bool) {
        do throws(ProbeError) {
            let timeouts = Demuxer.Timeouts(open: configuration.openTimeout, read: configuration.readTimeout)
            var demuxer = try Demuxer(opening: source, timeouts: timeouts, interrupt: interrupt)
            let info = demuxer.info
            change(wakingReader: false) { session, now in session.opened(info, now: now) }
            read(from: &demuxer, wait: wait)
        } catch {
            change(wakingReader: false) { session, now in session.exhausted(error, now: now) }
        }
    }

    private func read(from demuxer: inout Demuxer, wait: () -> Bool) {
        while true {
            switch nextOrder() {
            case .finish: return
            case .wait: if !wait() { return }
            case .seek(let position): seek(&demuxer, to: position)
            case .read:
                perform { () throws(ProbeError) in
                    if let packet = try demuxer.read() {
                        change(wakingReader: false) { session, now in session.received(packet, now: now) }
                    } else {
                        change(wakingReader: false) { session, now in session.exhausted(nil, now: now) }
                    }
                }
            }
        }
    }

    private func seek(_ demuxer: inout Demuxer, to position: Int64) {
        do throws(ProbeError) {
            try demuxer.seek(to: position)
        } catch {
            change(wakingReader: false) { session, now in session.cannotSeek(error, now: now) }
        }
    }

    private func perform(_ body: () throws(ProbeError) -> Void) {
        do throws(ProbeError) {
            try body()
        } catch {
            change(wakingReader: false) { session, now in session.exhausted(error, now: now) }
        }
    }

    private func nextOrder() -> Order {
        state.withLock { state in
            if state.session.outcome != nil { return .finish }
            if let position = state.session.takePendingSeek() { return .seek(position) }
            return state.session.wantsData(at: clock.now) ? .read : .wait
        }
    }

    /// Changes the session, delivers what follows, and sees to what will happen next.
    ///
    /// The reader, which calls this for every packet, need not wake itself.
    @discardableResult
    private func change<Result: Sendable>(
        wakingReader: Bool = true,
        _ body: (inout PlaybackSession, MonotonicInstant) -> Result
    ) -> Result {
        let (result, hasNews) = state.withLock { state in
            let now = clock.now
            let result = body(&state.session, now)
            schedule(&state, now)
            return (result, !state.session.outbox.isEmpty || state.session.outcome != nil)
        }
        if hasNews { deliver() }
        if wakingReader { wake.signal() }
        return result
    }

    /// Sets the timer if something will happen sooner than what it is set for. One that comes too early does no harm.
    private func schedule(_ state: inout State, _ now: MonotonicInstant) {
        guard state.session.outcome == nil, let next = state.session.model?.nextDeadline(after: now) else {
            state.timer?.cancel()
            (state.timer, state.timerInstant) = (nil, nil)
            return
        }
        if let set = state.timerInstant, set <= next, state.timer != nil { return }
        state.timer?.cancel()
        state.timerInstant = next
        state.timer = clock.schedule(at: next) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        state.withLock { ($0.timer, $0.timerInstant) = (nil, nil) }
        change { session, now in session.advance(to: now) }
    }

    /// Hands signals over in order, outside the lock; whoever finds nobody at it does it for all.
    private func deliver() {
        while true {
            let next = state.withLock { state -> (PlayerSignal, (@Sendable (PlayerSignal) -> Void)?)? in
                if state.isDelivering || state.session.outbox.isEmpty { return nil }
                state.isDelivering = true
                return (state.session.outbox.removeFirst(), state.observer)
            }
            guard let (signal, observer) = next else { break }
            observer?(signal)
            state.withLock { $0.isDelivering = false }
        }
        let isOver = state.withLock { $0.session.outcome != nil && $0.session.outbox.isEmpty && !$0.isDelivering }
        if isOver { finished.open() }
    }
}
