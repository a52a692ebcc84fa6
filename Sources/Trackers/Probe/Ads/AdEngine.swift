internal import Dispatch
internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

/// Plays content with ads: one engine for the content, one for each ad, and an ``AdCourse`` that decides.
///
/// Looks like one engine to a ``Probe``. News of all players and commands of the viewer enter one line; one thread at a
/// time takes from it, so that all reports have one order.
final class AdEngine: PlaybackEngine {
    private struct State {
        var course: AdCourse
        var inbox: [AdCourse.Input] = []
        var isDraining = false
        var ad: (any PlaybackEngine)?
        var loads: [Int: Task<Void, Never>] = [:]
        /// Requests that wait until others are answered.
        var waitingLoads: [Load] = []
        var loadCount = 0
        var timer: ScheduledAction?
        var observer: (@Sendable (PlaybackNews) -> Void)?
        var requests: (@Sendable (RequestRecord) -> Void)?
    }

    /// A request for ads.
    private struct Load: Sendable {
        var number: Int
        var request: AdRequest
        var key: String
    }

    /// How many requests are under way at a time: a document may place hundreds of breaks at one position.
    private static let mostLoads = 8
    /// A session on a virtual clock that is paused for longer than this counts as abandoned.
    private static let longestPause: Duration = .seconds(24 * 3600)
    /// How often a thread that waits for the network looks whether the players are busy.
    private static let look = DispatchTimeInterval.microseconds(300)

    private let configuration: ProbeConfiguration
    private let make: EngineMaker
    private let content: any PlaybackEngine
    private let loader: AdLoader
    private let outlet: ProbeAds
    private let state: Lock<State>
    private let finished = Gate()
    /// Signalled with every input, for a thread that waits for the network instead of the clock.
    private let arrival = DispatchSemaphore(value: 0)
    private var clock: any SchedulingClock { make.clock }

    init(
        _ source: MediaSource,
        _ configuration: ProbeConfiguration,
        _ ads: AdConfiguration,
        _ make: EngineMaker,
        reportingTo outlet: ProbeAds
    ) {
        (self.configuration, self.make, self.outlet) = (configuration, make, outlet)
        content = make.engine(for: source, configuration)
        loader = AdLoader(
            fetcher: TransportAdFetcher(make.transport, limits: ads.limits, userAgent: configuration.userAgent),
            configuration: ads,
            clock: make.clock,
            randomness: make.randomness
        )
        state = Lock(State(course: AdCourse(ads, randomness: make.randomness)))
        content.report(newsTo: { [weak self] news in self?.receive(.content(news)) })
        content.report(requestsTo: { [weak self] record in self?.report(record) })
        outlet.attach(
            status: { [weak self] in self?.adStatus ?? AdStatus() },
            actions: { [weak self] act in self?.receive(.viewer(act)) }
        )
    }

    deinit {
        let (loads, timer) = state.withLock { (Array($0.loads.values), $0.timer) }
        for load in loads { load.cancel() }
        timer?.cancel()
    }

    var status: PlayerStatus { content.status }
    var progress: ProbeProgress {
        var progress = content.progress
        // The content is over, the break that was open is not yet closed.
        if progress.state == .finished, outcome == nil { progress.state = .paused }
        return progress
    }
    var outcome: ProbeOutcome? { state.withLock { $0.course.isOver } ? content.outcome : nil }
    var isBusy: Bool {
        let (isBusy, ad) = state.withLock { state in
            let isLoading = !state.loads.isEmpty || !state.waitingLoads.isEmpty
            return (state.isDraining || !state.inbox.isEmpty || isLoading, state.ad)
        }
        return isBusy || content.isBusy || ad?.isBusy == true
    }

    func report(newsTo observer: (@Sendable (PlaybackNews) -> Void)?) { state.withLock { $0.observer = observer } }
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?) {
        state.withLock { $0.requests = observer }
    }
    private func report(_ record: RequestRecord) { state.withLock { $0.requests }?(record) }

    func perform(_ command: PlaybackCommand) { receive(.command(command)) }

    /// Advances the clock whenever nothing but time is awaited: reading and requests take no virtual time.
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome? {
        perform(.play)
        var pausedSince: MonotonicInstant?
        while !Task.isCancelled {
            if isBusy {
                // The players wait for the network on other threads, which report no end of their requests.
                _ = arrival.wait(timeout: .now() + Self.look)
                continue
            }
            if let outcome { return outcome }
            let isPaused = progress.state == .paused && state.withLock { $0.ad == nil }
            pausedSince = isPaused ? pausedSince ?? clock.now : nil
            guard let next = clock.nextDeadline else { return nil }
            if (pausedSince ?? clock.now).duration(to: next) > Self.longestPause { return nil }
            clock.advance(to: next)
        }
        return nil
    }

    func waitUntilFinished() async -> ProbeOutcome? {
        await finished.wait()
        return outcome
    }

    private var adStatus: AdStatus {
        let (playback, roll, ad) = state.withLock { state -> (AdPlayback?, AdRoll?, (any PlaybackEngine)?) in
            guard case .breaking(let current) = state.course.phase else { return (nil, nil, nil) }
            return (current.playback, current.adBreak.roll, state.ad)
        }
        guard let playback else { return AdStatus() }
        var status = AdStatus(playback.attributes)
        status.roll = roll
        status.position = ad?.progress.position ?? status.position
        return status
    }
}

// MARK: The line
extension AdEngine {
    private func receive(_ input: AdCourse.Input) {
        state.withLock { $0.inbox.append(input) }
        arrival.signal()
        drain()
    }

    private func drain() {
        while true {
            let inputs = state.withLock { state -> [AdCourse.Input]? in
                guard !state.isDraining, !state.inbox.isEmpty else { return nil }
                state.isDraining = true
                defer { state.inbox = [] }
                return state.inbox
            }
            guard let inputs else { break }
            for input in inputs {
                let situation = situation
                let effects = state.withLock { $0.course.handle(input, situation) }
                for effect in effects { carryOut(effect) }
            }
            schedule()
            state.withLock { $0.isDraining = false }
        }
        let loads = state.withLock { state -> [Task<Void, Never>]? in
            guard state.course.isOver, state.inbox.isEmpty, !state.isDraining else { return nil }
            defer { (state.loads, state.waitingLoads) = ([:], []) }
            return Array(state.loads.values)
        }
        guard let loads else { return }
        for load in loads { load.cancel() }
        finished.open()
    }

    private var situation: AdCourse.Situation {
        let ad = state.withLock { $0.ad }
        let (progress, adProgress) = (content.progress, ad?.progress)
        return AdCourse.Situation(
            now: clock.now,
            position: progress.position.nanoseconds,
            duration: progress.duration?.nanoseconds,
            isContentOver: content.outcome != nil,
            ad: ad?.status ?? PlayerStatus(),
            adPosition: adProgress?.position.nanoseconds ?? 0,
            adBuffered: adProgress?.buffered.nanoseconds ?? 0
        )
    }

    private func schedule() {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = state.course.deadline.map { instant in
                clock.schedule(at: instant) { [weak self] in self?.receive(.alarm) }
            }
        }
    }
}

// MARK: Effects
extension AdEngine {
    private func carryOut(_ effect: AdCourse.Effect) {
        switch effect {
        case .content(let command):
            content.perform(command)
            if command == .stop { state.withLock { $0.inbox.append(.stopped) } }
        case .load(let request, let key): load(request, key)
        case .play(let number, let url, let isStream, let from): play(number, url, isStream, from)
        case .ad(let command): state.withLock { $0.ad }?.perform(command)
        case .endAd:
            let ad = state.withLock { state in
                defer { state.ad = nil }
                return state.ad
            }
            ad?.report(newsTo: nil)
            ad?.perform(.stop)
        case .report(let signal): state.withLock { $0.observer }?(.signal(signal))
        case .reportAd(let signal): outlet.deliver(signal)
        case .call(let call): outlet.deliver(call)
        }
    }

    private func load(_ request: AdRequest, _ key: String) {
        state.withLock { state in
            state.loadCount += 1
            state.waitingLoads.append(Load(number: state.loadCount, request: request, key: key))
        }
        startLoads()
    }

    private func startLoads() {
        let loads = state.withLock { state in
            let loads = Array(state.waitingLoads.prefix(max(0, Self.mostLoads - state.loads.count)))
            state.waitingLoads.removeFirst(loads.count)
            // Before the tasks exist, so that a clock is not advanced in between.
            for load in loads { state.loads[load.number] = Task {} }
            return loads
        }
        for load in loads {
            let task = Task { [weak self, loader] in
                let answer = await loader.load(load.request)
                self?.answered(load.number, .answer(load.request, answer, key: load.key))
            }
            state.withLock { if $0.loads[load.number] != nil { $0.loads[load.number] = task } }
        }
    }

    private func answered(_ number: Int, _ input: AdCourse.Input) {
        state.withLock { state in
            state.inbox.append(input)
            state.loads[number] = nil
        }
        startLoads()
        drain()
    }

    private func play(_ number: Int, _ url: HTTPURL, _ isStream: Bool, _ from: Int64) {
        var configuration = configuration
        (configuration.ads, configuration.requestReporting, configuration.playCount) = (nil, nil, 1)
        (configuration.subtitles, configuration.licenceURL) = (.declared, nil)
        (configuration.title, configuration.startPosition) = (nil, .nanoseconds(from))
        configuration.profile = configuration.profile.forAds
        let ad = make.engine(for: MediaSource(url.secretText), configuration, isStream: isStream)
        ad.report(newsTo: { [weak self] news in self?.receive(.ad(number: number, news)) })
        ad.report(requestsTo: { [weak self] record in self?.report(record) })
        state.withLock { $0.ad = ad }
        ad.perform(.play)
    }
}
