internal import Dispatch
internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Plays a stream of segments: carries out what the loader decides, and brings it what comes of it.
///
/// No thread of its own: it works on the threads on which answers, alarms and callers come, for as long as it takes to look
/// at a segment. So thousands fit into one process.
final class StreamEngine: PlaybackEngine {
    private enum Running {
        case starting
        case active(FetchCancellation)
    }

    /// What the loader wants done, in its order: whoever finds nobody at it does it for all.
    private struct Orders {
        var waiting: [LoadCommand] = []
        var isBusy = false
    }

    /// Nobody pauses a session on a virtual clock for longer.
    private static let longestPause: Duration = .seconds(24 * 3600)

    private let driver: PlaybackDriver<StreamLoader>
    private let fetcher: any ResourceFetcher
    private let clock: any SchedulingClock
    private let running = Lock([Int: Running]())
    private let orders = Lock(Orders())
    /// Signalled whenever a fetch has ended, for whoever waits for the network instead of the clock.
    private let arrival = DispatchSemaphore(value: 0)
    private let requests = Lock<(@Sendable (RequestRecord) -> Void)?>(nil)
    /// Whether playback waits for what is on its way, so that each piece of it counts.
    private let wantsProgress = Lock(false)

    init(
        source: MediaSource,
        configuration: ProbeConfiguration,
        fetcher: any ResourceFetcher,
        clock: any SchedulingClock,
        random: RandomSource
    ) {
        self.fetcher = fetcher
        self.clock = clock
        let session = PlaybackSession(source: source, configuration: configuration, kind: .segments)
        let loader = StreamLoader(source: source, configuration: configuration, random: random)
        driver = PlaybackDriver(session, loading: loader, clock: clock) { loader, session, now in
            loader.deadline(session, now: now, wallTime: clock.wallTime)
        }
        driver.onAlarm { [weak self] in self?.change { $1.alarm(&$0, now: $2) } }
    }

    deinit {
        for case .active(let cancellation) in running.withLock({ Array($0.values) }) { cancellation.cancel() }
    }

    /// How many fetches are kept track of.
    var runningCount: Int { running.withLock { $0.count } }
    var status: PlayerStatus { driver.status }
    var progress: ProbeProgress { driver.progress }
    var outcome: ProbeOutcome? { driver.outcome }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { driver.report(to: observer) }
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) { requests.withLock { $0 = observer } }
    func waitUntilFinished() async -> ProbeOutcome {
        await driver.waitUntilFinished()
        return outcome ?? .stopped
    }

    func play() {
        change { session, loader, now in if session.request(now: now.instant) { loader.begin(&session, now: now) } }
    }
    /// Fetching takes real time and no virtual time; the clock is advanced when nothing is on its way.
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        play()
        while outcome == nil {
            let isFetching = driver.look { _, loader, _ in loader.isFetching }
            if isFetching {
                arrival.wait()
            } else if let next = clock.nextDeadline, clock.now.duration(to: next) < Self.longestPause {
                clock.advance(to: next)
            } else {
                return nil
            }
        }
        return outcome
    }

    func pause() { change { session, _, now in session.pause(now: now.instant) } }
    func resume() { change { session, _, now in session.resume(now: now.instant) } }
    func setRate(_ rate: Double) { change { session, _, now in session.setRate(rate, now: now.instant) } }

    func seek(to position: Int64) {
        change { session, loader, now in
            session.seek(to: loader.destination(position, session, now: now), now: now.instant)
            guard session.model != nil else {
                if let wish = session.pendingSeek { loader.seek(to: wish, &session, now: now) }
                return
            }
            if let target = session.takePendingSeek() { loader.seek(to: target, &session, now: now) }
        }
    }

    func stop() { change { session, _, now in session.stop(now: now.instant) } }

    /// Changes the session and the loader, and carries out what follows.
    private func change(_ body: (inout PlaybackSession, inout StreamLoader, Timestamp) -> Void) {
        let isEager = driver.change { session, loader, _ in
            let now = clock.timestamp
            // First what had come before anything else happened, so that a stall is none if there was enough.
            loader.catchUp(&session, now: now)
            session.advance(to: now.instant)
            body(&session, &loader, now)
            session.advance(to: now.instant)
            if session.outcome != nil { loader.stop() } else { loader.pump(&session, now: now) }
            // Still under the driver's lock, so that they are in the order in which they were given.
            let commands = loader.takeCommands()
            if !commands.isEmpty { orders.withLock { $0.waiting += commands } }
            return loader.wantsProgress(session)
        }
        wantsProgress.withLock { $0 = isEager }
        runOrders()
    }

    private func runOrders() {
        while true {
            let next = orders.withLock { orders -> [LoadCommand]? in
                if orders.isBusy || orders.waiting.isEmpty { return nil }
                orders.isBusy = true
                defer { orders.waiting = [] }
                return orders.waiting
            }
            guard let next else { return }
            for command in next { run(command) }
            orders.withLock { $0.isBusy = false }
        }
    }

    private func run(_ command: LoadCommand) {
        switch command {
        case .fetch(let fetching): start(fetching)
        case .cancel(let fetching, let why):
            // Nothing is there if it has ended in the meantime.
            guard let before = running.withLock({ $0.removeValue(forKey: fetching.number) }) else { return }
            if case .active(let cancellation) = before { cancellation.cancel() }
            record(fetching, .failure(why))
            arrival.signal()
        }
    }

    private func record(_ fetching: Fetching, _ result: Result<ResourceResponse, ResourceFailure>) {
        if let observer = requests.withLock({ $0 }) { observer(RequestRecord(fetching, result, clock)) }
    }

    private func start(_ fetching: Fetching) {
        let number = fetching.number
        running.withLock { $0[number] = .starting }
        let cancellation = fetcher.fetch(
            fetching.request,
            into: fetching.buffer,
            progress: { [weak self] in self?.progressed() },
            ended: { [weak self] result in self?.ended(fetching, result) }
        )
        let isGone = running.withLock { running in
            guard case .starting = running[number] else { return true }
            running[number] = .active(cancellation)
            return false
        }
        if isGone { cancellation.cancel() }
    }

    private func ended(_ fetching: Fetching, _ result: Result<ResourceResponse, ResourceFailure>) {
        fetching.buffer.finish()
        let result = reading(result, of: fetching)
        // Nothing is there if it was cancelled.
        guard running.withLock({ $0.removeValue(forKey: fetching.number) }) != nil else { return }
        record(fetching, result)
        change { $1.ended(fetching.number, result, &$0, now: $2) }
        arrival.signal()
    }

    /// Reads a manifest or playlist, holding no lock: until that is done, playback can be looked at and stopped, which
    /// cancels the fetch's task and with it the reading.
    private func reading(
        _ result: Result<ResourceResponse, ResourceFailure>,
        of fetching: Fetching
    ) -> Result<ResourceResponse, ResourceFailure> {
        guard case .success(var response) = result else { return result }
        do throws(ManifestError) {
            switch fetching.purpose {
            case .manifest:
                let presentation = try Presentation(
                    parsing: response.bytes,
                    at: response.url,
                    requestedAs: fetching.request.url,
                    now: clock.wallTime
                )
                response.reading = .success(.presentation(presentation))
            case .playlist:
                let definitions = driver.look { _, loader, _ in loader.presentation?.definitions ?? [:] }
                let playlist = try HLSPlaylist(parsing: response.bytes, at: response.url, definitions: definitions)
                response.reading = .success(.playlist(playlist))
            case .index, .initialization, .key, .segment: break
            }
        } catch {
            response.reading = .failure(error)
        }
        return .success(response)
    }

    /// Called for every piece that comes, on a thread that must not be held up.
    private func progressed() {
        let isFirst = wantsProgress.withLock { wants in
            defer { wants = false }
            return wants
        }
        guard isFirst else { return }
        fetcher.offload { [weak self] in self?.change { _, _, _ in } }
    }
}
