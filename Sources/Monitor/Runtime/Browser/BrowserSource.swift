package import Instrument
package import InstrumentChrome
internal import InstrumentHTTP
package import InstrumentMonitor
package import InstrumentWatch

/// Plays streams and web pages in the tabs of one Chromium, each session in a tab with a separate profile, and runs
/// their checks beside them.
///
/// The browser starts with the first session, and again if it ends: a session that is lost with the browser, or with
/// its tab, ends with ``SessionEnding/lost(reason:)``, which says nothing of the stream.
package final class BrowserSource: SessionSource {
    private struct Running {
        var stream: WatchedStream
        var session: BrowserSession
        var browser: Int
        var tab: ChromeTab
        var players: [TrackerID: ChromePlayer] = [:]
        var report: @Sendable (MonitorInput) -> Void
        var check: Task<Void, Never>?
        var alarm: ScheduledAction?
    }

    private struct TabKey: Hashable {
        var browser: Int
        var tab: ChromeTab
    }

    private struct State {
        var browser: ChromeBrowser?
        /// Counts the browsers.
        var number = 0
        var pacing = BrowserPacing()
        var running: [Int: Running] = [:]
        var sessions: [TabKey: Int] = [:]
        var trackers: [ObjectIdentifier: TrackerID] = [:]
        var poll: ScheduledAction?
        /// Since when no session runs.
        var idleSince: MonotonicInstant?
        /// The browsers that are not gone, with those that are being ended.
        var tasks: [Int: Task<Void, Never>] = [:]
        var isClosed = false
    }

    /// How often the gauges of all sessions are read.
    private static let gaugeInterval = Duration.seconds(5)
    /// A browser without a session ends after this time.
    private static let idleLimit = Duration.seconds(600)

    private let instrument: Instrument
    private let taps: SessionTaps
    private let checks: SessionChecks
    private let launch: ChromeLaunch
    private let libraries: [[UInt8]]
    private let clock: any SchedulingClock
    private let note: @Sendable (String) -> Void
    private let state = Lock(State())

    /// Creates a source.
    /// - Parameters:
    ///   - instrument: the chain of all sessions, whose metricalc is a ``TappedMetricalc`` with the same taps.
    ///   - taps: passes the events of the chain to the sessions.
    ///   - checks: runs the checks beside the sessions.
    ///   - launch: the browser.
    ///   - libraries: the texts of player libraries for playlists and MPDs.
    ///   - clock: the clock of the instrument.
    ///   - note: receives lines for the log.
    package init(
        instrument: Instrument,
        taps: SessionTaps,
        checks: SessionChecks,
        launch: ChromeLaunch,
        libraries: [[UInt8]] = [],
        clock: any SchedulingClock = SystemClock(),
        note: @escaping @Sendable (String) -> Void
    ) {
        (self.instrument, self.taps, self.checks, self.launch) = (instrument, taps, checks, launch)
        (self.libraries, self.clock, self.note) = (libraries, clock, note)
    }

    package func start(_ id: SessionID, _ stream: WatchedStream, report: @escaping @Sendable (MonitorInput) -> Void) {
        let check = checks.start(stream) { report(.checked($0)) }
        let lost = state.withLock { state -> String? in
            switch browser(&state) {
            case .failure(let loss): return loss.reason
            case .success(let browser):
                let tab = open(stream, in: browser)
                state.sessions[TabKey(browser: state.number, tab: tab)] = id.number
                state.running[id.number] = Running(
                    stream: stream,
                    session: BrowserSession(stream),
                    browser: state.number,
                    tab: tab,
                    report: report,
                    check: check
                )
                arm(id.number, &state)
                return nil
            }
        }
        if let lost {
            check?.cancel()
            return report(.ended(.lost(reason: lost)))
        }
        startPolling()
    }

    package func stop(_ id: SessionID) { change(id.number) { $0.session.close(.stopped) } }

    /// Ends the browser and the sessions that are left; returns once the browser has gone.
    package func close() async {
        let (browser, tasks, sessions) = state.withLock { state in
            state.isClosed = true
            defer { state.browser = nil }
            return (state.browser, Array(state.tasks.values), Array(state.running.keys))
        }
        browser?.close()
        for task in tasks { await task.value }
        for session in sessions { finish(session, .stopped) }
    }

    // MARK: - The browser

    private struct Loss: Error { var reason: String }

    /// The browser that runs, or one that is started now.
    private func browser(_ state: inout State) -> Result<ChromeBrowser, Loss> {
        if let browser = state.browser { return .success(browser) }
        let now = clock.now
        if state.isClosed { return .failure(Loss(reason: "the monitor stops")) }
        if let wait = state.pacing.wait(at: now) {
            let words = "\(state.pacing.reason); the browser is started again in \(Int(wait.seconds.rounded(.up))) s"
            return .failure(Loss(reason: words))
        }
        let configuration = ChromeConfiguration()
        do throws(ChromeError) {
            let browser = try ChromeBrowser(starting: launch, configuration: configuration, clock: clock) {
                [note] notice in
                if notice.kind != .connected { note("browser: \(notice)") }
            }
            state.pacing.start(at: now)
            state.number += 1
            (state.browser, state.tasks[state.number]) = (browser, watch(browser, state.number))
            return .success(browser)
        } catch {
            state.pacing.fail(error.description, at: now)
            return .failure(Loss(reason: error.description))
        }
    }

    private func watch(_ browser: ChromeBrowser, _ number: Int) -> Task<Void, Never> {
        browser.connect {
            [weak self] in
            self?.add($0, number)
        } onGone: { [weak self] in
            self?.remove($0)
        } onTab: { [weak self] tab, event in
            self?.take(event, of: TabKey(browser: number, tab: tab))
        } onRequest: { [weak self] tab, request in
            self?.take(request, of: TabKey(browser: number, tab: tab))
        }
        return Task { [weak self] in
            let ending = await browser.waitUntilGone()
            self?.gone(number, ending)
        }
    }

    /// A browser has gone.
    private func gone(_ number: Int, _ ending: ChromeEnding) {
        let reason =
            switch ending {
            case .browserWentAway(let reason): "the browser went away: \(reason)"
            case .notThere(let reason): "the browser does not start: \(reason)"
            case .closed: "the browser was ended"
            }
        let lost = state.withLock { state in
            if state.number == number, state.browser != nil {
                state.browser = nil
                state.pacing.fail(reason, at: clock.now)
            }
            state.tasks[number] = nil
            return state.running.filter { $0.value.browser == number }.keys.sorted()
        }
        for session in lost { finish(session, .lost(reason: reason)) }
    }

    /// Ends a browser that does not do what it must; its sessions are lost.
    private func end(_ number: Int, _ reason: String) {
        let browser = state.withLock { state -> ChromeBrowser? in
            guard state.number == number else { return nil }
            defer { state.browser = nil }
            if state.browser != nil { state.pacing.fail(reason, at: clock.now) }
            return state.browser
        }
        note("browser: \(reason); it is started again")
        for session in state.withLock({ $0.running.filter { $0.value.browser == number }.keys.sorted() }) {
            finish(session, .lost(reason: reason), isHung: true)
        }
        browser?.close()
    }

    private func open(_ stream: WatchedStream, in browser: ChromeBrowser) -> ChromeTab {
        let address = stream.url.secretText
        guard stream.player != .page, let page = StreamPage.address(playing: address) else {
            return browser.openTab(address)
        }
        return browser.openTab(page, showing: StreamPage.html(playing: address, with: libraries))
    }

    // MARK: - Sessions

    private func take(_ event: ChromeTab.Event, of key: TabKey) {
        guard let session = state.withLock({ $0.sessions[key] }) else { return }
        switch event {
        case .opened: change(session) { $0.session.opened() }
        case .failed(let reason):
            change(session) { $0.session.close(.failed(code: "pageFailed", message: reason)) }
        case .lost(let reason): finish(session, .lost(reason: reason))
        case .closed: finish(session, nil)
        }
    }

    private func take(_ request: ChromeTab.Request, of key: TabKey) {
        let report = state.withLock { state in state.sessions[key].flatMap { state.running[$0]?.report } }
        report?(.request(RequestObservation(request, clock)))
    }

    private func add(_ player: ChromePlayer, _ browser: Int) {
        let found = state.withLock { state -> (Int, String)? in
            guard let tab = player.tab, let session = state.sessions[TabKey(browser: browser, tab: tab)],
                let name = state.running[session]?.stream.name
            else { return nil }
            return (session, name)
        }
        guard let (session, name) = found else { return }
        let tracker = AnalyticsValues.with(\.monitorStream, name) { instrument.add(PlayerTracker(player)) }
        instrument.set(.monitorStream, to: name, in: .tracker(tracker))
        state.withLock { state in
            state.trackers[ObjectIdentifier(player)] = tracker
            state.running[session]?.players[tracker] = player
        }
        taps.add(tracker) { [weak self] in self?.take($0, of: session) }
    }

    /// An element is no more there, after its last event.
    private func remove(_ player: ChromePlayer) {
        guard let tracker = state.withLock({ $0.trackers.removeValue(forKey: ObjectIdentifier(player)) }) else {
            return
        }
        taps.remove(tracker)
        instrument.remove(tracker)
        instrument.set(.monitorStream, to: nil, in: .tracker(tracker))
        state.withLock { state in
            for session in state.running.keys { state.running[session]?.players[tracker] = nil }
        }
    }

    /// Takes an event of the chain.
    private func take(_ event: Event, of session: Int) {
        var report: (@Sendable (MonitorInput) -> Void)?
        change(session) { running in
            if running.session.take(event) { report = running.report }
        }
        report?(.event(event))
    }

    /// Changes a session, and does what its new state asks for.
    private func change(_ session: Int, _ body: (inout Running) -> Void) {
        let close = state.withLock { state -> (ChromeBrowser, ChromeTab)? in
            guard let before = state.running[session]?.session else { return nil }
            if var running = state.running.removeValue(forKey: session) {
                body(&running)
                state.running[session] = running
            }
            guard let after = state.running[session], after.session.deadline != before.deadline else { return nil }
            arm(session, &state)
            guard after.session.isClosing, let browser = state.browser, after.browser == state.number else {
                return nil
            }
            return (browser, after.tab)
        }
        if let (browser, tab) = close { browser.close(tab) }
    }

    private func arm(_ session: Int, _ state: inout State) {
        state.running[session]?.alarm?.cancel()
        let deadline = state.running[session]?.session.deadline
        state.running[session]?.alarm = deadline.map { deadline in
            clock.schedule(at: clock.now.advanced(by: .seconds(deadline.limit))) { [weak self] in
                self?.pass(deadline, session)
            }
        }
    }

    private func pass(_ deadline: BrowserSession.Deadline, _ session: Int) {
        let browser = state.withLock { $0.running[session]?.browser }
        var fault: String?
        change(session) { fault = $0.session.pass(deadline) }
        if let fault, let browser { end(browser, fault) }
    }

    /// Ends a session, whose tab is closed or lost. A browser that goes while it closes a tab is no loss of a session,
    /// unless it hangs.
    private func finish(_ session: Int, _ ending: SessionEnding?, isHung: Bool = false) {
        let (running, browser) = state.withLock { state -> (Running?, ChromeBrowser?) in
            guard let running = state.running.removeValue(forKey: session) else { return (nil, nil) }
            state.sessions[TabKey(browser: running.browser, tab: running.tab)] = nil
            return (running, running.browser == state.number ? state.browser : nil)
        }
        guard let running else { return }
        running.alarm?.cancel()
        running.check?.cancel()
        for tracker in running.players.keys { taps.remove(tracker) }
        browser?.close(running.tab)
        let known = isHung ? nil : running.session.ending
        running.report(.ended(known ?? ending ?? .stopped))
    }

    // MARK: - Gauges

    private func startPolling() {
        state.withLock { state in
            guard state.poll == nil, !state.isClosed else { return }
            state.poll = clock.schedule(at: clock.now.advanced(by: Self.gaugeInterval)) { [weak self] in self?.read() }
        }
    }

    private func read() {
        let sessions = state.withLock { state in
            state.running.compactMap { number, running in
                running.session.followed.flatMap { running.players[$0] }.map { (number, $0, running.report) }
            }
        }
        for (number, player, report) in sessions {
            let (status, answer) = (player.status, player.answer)
            report(.gauges(PlaybackGauges(bitrate: status.bitrate, buffered: answer?.buffered, title: status.title)))
            change(number) { $0.session.judge(answer: answer?.instant, at: clock.now) }
        }
        let now = clock.now
        let (idle, isNeeded) = state.withLock { state -> (ChromeBrowser?, Bool) in
            state.poll = nil
            state.idleSince = state.running.isEmpty ? state.idleSince ?? now : nil
            guard let since = state.idleSince, since.duration(to: now) >= Self.idleLimit else {
                return (nil, state.browser != nil)
            }
            defer { state.browser = nil }
            return (state.browser, false)
        }
        idle?.close()
        if isNeeded { startPolling() }
    }
}
