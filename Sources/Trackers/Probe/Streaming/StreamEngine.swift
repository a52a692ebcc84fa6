internal import Dispatch
internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Plays a stream of segments: passes events to the ``StreamPlayback``, and runs its commands for the network.
///
/// The engine has no thread: it works on the threads of answers, alarms and callers, for as long as it takes to demux a
/// segment. Thousands of engines therefore fit into one process.
final class StreamEngine: DrivenEngine {
    private enum Running {
        case starting
        case active(FetchCancellation)
        /// It has ended, which another thread reports.
        case ending(isCancelled: Bool)
    }

    /// The commands for the network in their order. One thread at a time runs them, including those of other threads.
    private struct Orders {
        var waiting: [LoadCommand] = []
        var isBusy = false
    }

    /// A session on a virtual clock that is paused for longer than this counts as abandoned.
    private static let longestPause: Duration = .seconds(24 * 3600)

    /// The interval at which a thread that waits for the network checks whether its task was cancelled.
    private static let cancellationInterval = DispatchTimeInterval.milliseconds(100)

    let driver: PlaybackDriver<StreamPlayback>
    private let fetcher: any ResourceFetcher
    private let clock: any SchedulingClock
    private let running = Lock([Int: Running]())
    private let orders = Lock(Orders())
    /// Signalled whenever a request has ended, for a thread that waits for the network instead of the clock.
    private let arrival = DispatchSemaphore(value: 0)
    private struct Observers {
        var requests: (@Sendable (RequestRecord) -> Void)?
    }

    private let observers = Lock(Observers())
    /// Whether playback waits for bytes in transit, so that each piece matters.
    private let wantsProgress = Lock(false)

    init(
        source: MediaSource,
        configuration: ProbeConfiguration,
        fetcher: any ResourceFetcher,
        clock: any SchedulingClock,
        randomness: RandomSource
    ) {
        self.fetcher = fetcher
        self.clock = clock
        let playback = StreamPlayback(source: source, configuration: configuration, randomness: randomness)
        driver = PlaybackDriver(playback, clock: clock)
        driver.onAlarm { [weak self] in self?.handle(.alarm) }
    }

    deinit {
        for case .active(let cancellation) in running.withLock({ Array($0.values) }) { cancellation.cancel() }
    }

    /// The number of requests that the engine keeps track of.
    var runningCount: Int { running.withLock { $0.count } }

    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {
        observers.withLock { $0.requests = observer }
    }

    var isBusy: Bool { driver.look { playback, _ in !playback.fetches.isEmpty } || driver.isDelivering }

    func perform(_ command: PlaybackCommand) { handle(.command(command)) }

    /// Plays by advancing the clock whenever no request is running: requests take real time and no virtual time.
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        perform(.play)
        while outcome == nil {
            if Task.isCancelled { return nil }
            let isFetching = driver.look { playback, _ in !playback.fetches.isEmpty }
            if isFetching {
                // A cancellation of the task does not signal the semaphore.
                _ = arrival.wait(timeout: .now() + Self.cancellationInterval)
            } else if let next = clock.nextDeadline, clock.now.duration(to: next) < Self.longestPause {
                clock.advance(to: next)
            } else {
                return nil
            }
        }
        driver.waitUntilDelivered()
        return outcome
    }

    /// Passes an event to the playback, and runs the resulting commands.
    private func handle(_ event: StreamEvent) {
        let isEager = driver.change { playback, now in
            playback.handle(event, now: now)
            // Still under the driver's lock, to preserve the order of the commands.
            let commands = playback.fetches.takeCommands()
            if !commands.isEmpty {
                playback.openCancellations += commands.count(where: \.isCancellation)
                orders.withLock { $0.waiting += commands }
            }
            return playback.wantsProgress(at: now)
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
        case .cancel(let fetching, let reason):
            let before = running.withLock { running -> Running? in
                if case .ending? = running[fetching.number] {
                    running[fetching.number] = .ending(isCancelled: true)
                    return Running.ending(isCancelled: true)
                }
                return running.removeValue(forKey: fetching.number)
            }
            // The request may have ended in the meantime; then the thread that reports that settles this, too.
            if case .ending? = before { return }
            if case .active(let cancellation)? = before { cancellation.cancel() }
            if before != nil { record(fetching, .failure(reason)) }
            driver.settle { $0.openCancellations -= 1 }
            arrival.signal()
        }
    }

    private func record(_ fetching: Fetching, _ result: Result<ResourceResponse, ResourceFailure>) {
        if let observer = observers.withLock({ $0.requests }) { observer(RequestRecord(fetching, result, clock)) }
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
        // The request may have been cancelled.
        let isWanted = running.withLock { running in
            guard running[fetching.number] != nil else { return false }
            running[fetching.number] = .ending(isCancelled: false)
            return true
        }
        guard isWanted else { return }
        record(fetching, result)
        let last = running.withLock { $0.removeValue(forKey: fetching.number) }
        if case .ending(isCancelled: true)? = last { driver.settle { $0.openCancellations -= 1 } }
        handle(.fetched(number: fetching.number, result))
        arrival.signal()
    }

    /// Parses a manifest or playlist without a lock: other threads can read and stop the playback, which cancels the
    /// request's task and the parsing.
    private func reading(
        _ result: Result<ResourceResponse, ResourceFailure>,
        of fetching: Fetching
    ) -> Result<ResourceResponse, ResourceFailure> {
        guard case .success(var response) = result else { return result }
        do throws(ManifestError) {
            switch fetching.purpose {
            case .manifest:
                let known = driver.look { playback, _ in
                    (playback.manifest.clock.offset ?? 0, playback.manifest.elements.remote)
                }
                response.reading = .success(try read(response, fetching.request.url, known))
            case .element:
                let complete = driver.look { playback, _ in
                    playback.manifest.elements.complete(with: response, limits: ManifestLimits()).map {
                        ($0, playback.manifest.clock.offset ?? 0)
                    }
                }
                guard let ((waiting, remote), offset) = complete else { break }
                response.reading = .success(
                    try read(waiting.response, waiting.fetching.request.url, (offset, remote))
                )
            case .patch:
                let known = driver.look { playback, _ in
                    playback.manifest.presentation.map { ($0, playback.manifest.clock.offset ?? 0) }
                }
                guard let (presentation, offset) = known else { break }
                let patched = try presentation.patched(
                    by: response.bytes,
                    at: response.url,
                    now: clock.wallTime,
                    clockOffset: offset
                )
                guard patched.missingElements.isEmpty else {
                    let message = "the patch adds an element that is elsewhere (xlink); load the whole MPD"
                    throw ManifestError(.unrelatedReload, message)
                }
                response.reading = .success(.presentation(patched))
            case .clock(let method):
                let (held, remote) = driver.look { playback, _ in
                    (playback.manifest.clock.waiting, playback.manifest.elements.remote)
                }
                guard let waiting = held else { break }
                guard let time = method == .body ? ClockSource.time(inBody: response.bytes) : response.date else {
                    return .failure(.wrongContent("expected the date of the server's clock; check the address"))
                }
                // The server told the time in the middle of the request.
                let half = fetching.begun.duration(to: clock.now) / 2
                let offset = time.nanoseconds(since: clock.wallTime.advanced(nanoseconds: -half.nanoseconds))
                let parsed = try read(waiting.response, waiting.requested, (offset, remote))
                if case .presentation(let parsed) = parsed {
                    response.reading = .success(.synchronized(parsed, clockOffset: offset))
                }
            case .steering:
                response.reading = .success(.steering(try SteeringManifest(parsing: response.bytes, at: response.url)))
            case .playlist:
                let definitions = driver.look { playback, _ in playback.manifest.presentation?.definitions ?? [:] }
                let playlist = try HLSPlaylist(parsing: response.bytes, at: response.url, definitions: definitions)
                response.reading = .success(.playlist(playlist))
            case .index, .initialization, .key, .licence, .segment, .hint: break
            }
        } catch {
            response.reading = .failure(error)
        }
        return .success(response)
    }

    /// - Parameter known: the difference of the server's clock, and the elements of the MPD that were loaded.
    private func read(
        _ response: ResourceResponse,
        _ requested: HTTPURL,
        _ known: (clockOffset: Int64, remote: RemoteElements)
    ) throws(ManifestError) -> ManifestReading {
        try ManifestReading(
            response,
            requestedAs: requested,
            remote: known.remote,
            now: clock.wallTime,
            clockOffset: known.clockOffset
        )
    }

    /// Called for every piece of a body, on a thread that must not be blocked.
    private func progressed() {
        let isFirst = wantsProgress.withLock { wants in
            defer { wants = false }
            return wants
        }
        guard isFirst else { return }
        fetcher.offload { [weak self] in self?.handle(.progressed) }
    }
}
