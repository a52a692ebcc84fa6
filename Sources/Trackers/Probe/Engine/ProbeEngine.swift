internal import Dispatch
internal import Instrument

/// The playback of progressive media: nothing but its session, since libavformat reads the media.
struct MediaPlayback: DrivenPlayback {
    var session: PlaybackSession

    func deadline(at now: Timestamp) -> MonotonicInstant? { nil }
}

/// Plays progressive media: a reader fetches data while the buffer has room.
///
/// In real time the reader blocks a dedicated thread. On a virtual clock the engine reads inline and advances the clock
/// whenever the buffer is full, so that reading takes no virtual time and every run gives the same session.
final class ProbeEngine: DrivenEngine {
    private enum Order { case read, seek(Int64), wait, finish }

    /// A session on a virtual clock that is paused for longer than this counts as abandoned.
    private static let longestPause: Duration = .seconds(24 * 3600)

    private let source: MediaSource
    private let configuration: ProbeConfiguration
    private let interrupt = Interrupt()
    let driver: PlaybackDriver<MediaPlayback>
    private let wake = DispatchSemaphore(value: 0)
    /// The reader in real time: whether it waits, and the calls that it has not answered.
    private let reader = Lock((isRunning: false, isWaiting: false, calls: 0))

    init(source: MediaSource, configuration: ProbeConfiguration, clock: any SchedulingClock) {
        self.source = source
        self.configuration = configuration
        let session = PlaybackSession(source: source, configuration: configuration)
        driver = PlaybackDriver(MediaPlayback(session: session), clock: clock)
        // Time may make room in the buffer.
        driver.onAlarm { [weak self] in self?.change { session, now in session.advance(to: now) } }
    }

    /// Reports nothing: libavformat makes the requests and does not report them.
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {}

    var isBusy: Bool {
        let isReading = reader.withLock { $0.isRunning && !($0.isWaiting && $0.calls == 0) }
        return isReading || driver.isDelivering
    }

    func perform(_ command: PlaybackCommand) {
        if command == .play { return play() }
        change { session, now in session.perform(command, now: now) }
        if command == .stop { interrupt.abort() }
    }

    /// Starts to play in real time, once.
    private func play() {
        guard request() else { return }
        reader.withLock { $0.isRunning = true }
        let isRunning = SystemThread.start {
            self.load {
                self.reader.withLock { $0.isWaiting = true }
                self.wake.wait()
                self.reader.withLock { ($0.isWaiting, $0.calls) = (false, $0.calls - 1) }
                return true
            }
            self.reader.withLock { $0.isRunning = false }
        }
        if isRunning { return }
        reader.withLock { $0.isRunning = false }
        let message =
            "cannot create the reader thread: the process has reached its thread limit; play fewer files at once"
        let error = ProbeError(.readFailed, .open, source, message)
        change { session, now in session.exhausted(error, now: now) }
    }

    /// Plays as fast as data can be read, advancing `clock`; returns when the playback has ended, when no deadline is
    /// left on the clock, or when the current task is cancelled.
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        if Task.isCancelled { return outcome }
        guard request() else { return outcome }
        var pausedSince: MonotonicInstant?
        load {
            if Task.isCancelled { return false }
            // During a pause, deadlines of others (pings, for example) keep coming without an end.
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
        if outcome != nil { driver.waitUntilDelivered() }
        return outcome
    }

    /// Reports the request and the load; false if playback was requested before.
    private func request() -> Bool {
        change { session, now in
            guard session.request(now: now) else { return false }
            session.loadStream(now: now)
            return true
        }
    }

    /// Opens the source and reads it while the buffer has room. `wait` blocks until something may have changed, and
    /// returns false if nothing will change any more.
    private func load(wait: () -> Bool) {
        do throws(ProbeError) {
            try checkAddress()
            let timeouts = Demuxer.Timeouts(open: configuration.openTimeout, read: configuration.readTimeout)
            var demuxer = try Demuxer(
                opening: source,
                timeouts: timeouts,
                interrupt: interrupt,
                configuration: configuration
            )
            let info = demuxer.info
            change(wakingReader: false) { session, now in session.opened(info, now: now) }
            read(from: &demuxer, wait: wait)
        } catch {
            change(wakingReader: false) { session, now in session.exhausted(error, now: now) }
        }
    }

    /// Refuses remote media where private addresses are forbidden: libavformat connects to every address that a name or
    /// a redirect leads to.
    private func checkAddress() throws(ProbeError) {
        guard source.isRemote, !configuration.allowsPrivateAddresses else { return }
        let message =
            "progressive media at an address cannot be played where private addresses are refused; use an HLS or DASH "
            + "address (a path that ends in .m3u8 or .mpd), or allow private addresses"
        throw ProbeError(.refusedAddress, .open, source, message)
    }

    private func read(from demuxer: inout Demuxer, wait: () -> Bool) {
        while true {
            switch nextOrder() {
            case .finish: return
            case .wait: if !wait() { return }
            case .seek(let position): seek(&demuxer, to: position)
            case .read:
                attempt { () throws(ProbeError) in
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

    private func attempt(_ body: () throws(ProbeError) -> Void) {
        do throws(ProbeError) {
            try body()
        } catch {
            change(wakingReader: false) { session, now in session.exhausted(error, now: now) }
        }
    }

    private func nextOrder() -> Order {
        driver.change { playback, now in
            if playback.session.outcome != nil { return .finish }
            if let position = playback.session.takePendingSeek() { return .seek(position) }
            return playback.session.wantsData(at: now.instant) ? .read : .wait
        }
    }

    /// Changes the session, and wakes the reader unless the reader itself calls, which it does for every packet.
    @discardableResult
    private func change<Result: Sendable>(
        wakingReader: Bool = true,
        _ body: (inout PlaybackSession, MonotonicInstant) -> Result
    ) -> Result {
        let result = driver.change { playback, now in body(&playback.session, now.instant) }
        if wakingReader {
            reader.withLock { $0.calls += 1 }
            wake.signal()
        }
        return result
    }
}
