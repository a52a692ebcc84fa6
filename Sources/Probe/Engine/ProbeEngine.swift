internal import Dispatch
internal import Instrument

/// Drives a playback: a reader brings data while the buffer has room, the clock lets it play.
///
/// In real time the reader blocks on a thread of its own. On a virtual clock it reads inline and advances the clock
/// whenever the buffer is full, so that reading takes no virtual time and a session is the same every time.
final class ProbeEngine: PlaybackEngine {
    private enum Order { case read, seek(Int64), wait, finish }

    /// Nobody pauses a session on a virtual clock for longer.
    private static let longestPause: Duration = .seconds(24 * 3600)

    private let source: MediaSource
    private let configuration: ProbeConfiguration
    private let interrupt = Interrupt()
    private let driver: PlaybackDriver<Void>
    private let wake = DispatchSemaphore(value: 0)

    init(source: MediaSource, configuration: ProbeConfiguration, clock: any SchedulingClock) {
        self.source = source
        self.configuration = configuration
        let session = PlaybackSession(source: source, configuration: configuration)
        driver = PlaybackDriver(session, loading: (), clock: clock)
        // Time may make room in the buffer.
        driver.onAlarm { [weak self] in self?.change { session, now in session.advance(to: now) } }
    }

    var status: PlayerStatus { driver.status }
    var progress: ProbeProgress { driver.progress }
    var outcome: ProbeOutcome? { driver.outcome }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { driver.report(to: observer) }
    /// libavformat fetches for itself, and does not say what.
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {}

    /// Begins to play in real time; does nothing if it has begun.
    func play() {
        guard change({ session, now in session.request(now: now) }) else { return }
        let isRunning = SystemThread.start {
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
        await driver.waitUntilFinished()
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
            try checkAddress()
            let timeouts = Demuxer.Timeouts(open: configuration.openTimeout, read: configuration.readTimeout)
            var demuxer = try Demuxer(opening: source, timeouts: timeouts, interrupt: interrupt)
            let info = demuxer.info
            change(wakingReader: false) { session, now in session.opened(info, now: now) }
            read(from: &demuxer, wait: wait)
        } catch {
            change(wakingReader: false) { session, now in session.exhausted(error, now: now) }
        }
    }

    /// libavformat connects to whatever a name or a redirect leads to.
    private func checkAddress() throws(ProbeError) {
        guard source.isRemote, !configuration.allowsPrivateAddresses else { return }
        let message =
            "where private addresses are refused, only HLS and DASH are fetched, from paths that end in .m3u8 or .mpd; "
            + "allow private addresses to play this"
        throw ProbeError(.refusedAddress, .open, source, message)
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
        driver.change { session, _, now in
            if session.outcome != nil { return .finish }
            if let position = session.takePendingSeek() { return .seek(position) }
            return session.wantsData(at: now) ? .read : .wait
        }
    }

    /// The reader, which calls this for every packet, need not wake itself.
    @discardableResult
    private func change<Result: Sendable>(
        wakingReader: Bool = true,
        _ body: (inout PlaybackSession, MonotonicInstant) -> Result
    ) -> Result {
        let result = driver.change { session, _, now in body(&session, now) }
        if wakingReader { wake.signal() }
        return result
    }
}
