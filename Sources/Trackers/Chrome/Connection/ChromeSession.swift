internal import Dispatch
internal import Instrument
internal import InstrumentSockets
internal import InstrumentText

/// Connects, sends commands, receives, and reports: drives the model of a browser.
///
/// Everything that happens, happens on one serial queue. What others may read stands behind a lock.
final class ChromeSession: Sendable {
    /// The location of a browser.
    enum Place: Sendable {
        case port(HostPort)
        case process(ChromeProcess)
    }

    /// Who hears of elements.
    struct Listener: Sendable {
        var opened: @Sendable (ChromePlayer) -> Void
        var gone: @Sendable (ChromePlayer) -> Void
        var tab: @Sendable (ChromeTab, ChromeTab.Event) -> Void = { _, _ in }
        var requested: @Sendable (ChromeTab, ChromeTab.Request) -> Void = { _, _ in }
    }

    struct State {
        var model: ChromeModel
        var framing: MessageFraming
        var listener: Listener?
        var connection: StreamConnection?
        var players: [ChromeModel.ElementID: ChromePlayer] = [:]
        var waking: Set<ChromeModel.Wake> = []
        /// The pages to open once a connection stands.
        var pages: [PageToOpen] = []
        var lastTab = 0
        var attempts = 0
        var isHeard = false
        var hasBadMessage = false
        var output: StreamConnection?
        var retry: ScheduledAction?
        var isBegun = false
        /// Whether a close was asked for: an attempt to connect ends then.
        var isClosing = false
        /// Counts connections.
        var epoch = 0
        var ending: ChromeEnding?
    }

    /// How many bytes may wait for a browser that reads slowly.
    private static let maxUnsentCount = 32 << 20

    let place: Place
    let configuration: ChromeConfiguration
    let clock: any SchedulingClock
    let report: @Sendable (ChromeDiagnostic) -> Void
    let random: RandomSource
    let queue = DispatchQueue(label: "instrument.chrome")
    let state: Lock<State>
    let ended = Gate()

    init(
        _ place: Place,
        _ configuration: ChromeConfiguration,
        _ clock: any SchedulingClock,
        _ report: @escaping @Sendable (ChromeDiagnostic) -> Void,
        random: RandomSource = RandomSource()
    ) {
        (self.place, self.configuration, self.clock, self.report, self.random) = (
            place, configuration, clock, report, random
        )
        state = Lock(
            State(
                model: Self.makeModel(place, configuration, random),
                framing: .pipe(maxLength: configuration.maxMessageLength)
            )
        )
    }

    private static func makeModel(
        _ place: Place,
        _ configuration: ChromeConfiguration,
        _ random: RandomSource
    ) -> ChromeModel {
        let isOurs = if case .process = place { true } else { false }
        return ChromeModel(
            names: ChromeModel.Names(random),
            reportsRequests: configuration.reportsRequests,
            answersDialogs: isOurs
        )
    }

    func begin(_ listener: Listener) {
        queue.async { [self] in
            let isFirst = state.withLock { state in
                defer { state.isBegun = true }
                if !state.isBegun { state.listener = listener }
                return !state.isBegun && state.ending == nil
            }
            if isFirst { connect() }
        }
    }

    func open(_ page: PageToOpen) {
        queue.async { [self] in
            let effects = state.withLock { state -> [ChromeModel.Effect] in
                if state.connection != nil { return state.model.open(page) }
                if state.ending == nil { state.pages.append(page) }
                guard state.ending != nil, let tab = page.tab else { return [] }
                return [.tab(tab, .lost("the browser went away"))]
            }
            perform(effects)
        }
    }

    /// Opens a page in a tab with a separate profile, whose news the listener gets.
    func openTab(_ page: PageToOpen) -> ChromeTab {
        var page = page
        let tab = state.withLock { state in
            state.lastTab += 1
            return ChromeTab(state.lastTab)
        }
        page.tab = tab
        open(page)
        return tab
    }

    func close(_ tab: ChromeTab) {
        queue.async { [self] in
            let effects = state.withLock { state in
                let count = state.pages.count
                state.pages.removeAll { $0.tab == tab }
                return state.pages.count < count ? [.tab(tab, .closed)] : state.model.close(tab)
            }
            perform(effects)
        }
    }

    /// Ends the session once all pending signals are reported. It cannot be restarted.
    func close() {
        state.withLock { $0.isClosing = true }
        queue.async { [self] in finish(.closed) }
    }

    // MARK: - Connection

    private func connect() {
        if state.withLock({ $0.ending != nil }) { return }
        switch place {
        case .process(let process):
            readOutput(of: process)
            adopt(process.descriptor, .pipe(maxLength: configuration.maxMessageLength))
        case .port(let address):
            let port = DevToolsPort(address, timeout: configuration.connectTimeout, random: random)
            switch port.connect(isCancelled: { self.state.withLock { $0.isClosing || $0.ending != nil } }) {
            case .success(let connected):
                adopt(connected.descriptor, .webSocket(maxLength: configuration.maxMessageLength, random: random))
                received(connected.rest)
            case .failure(let error):
                if state.withLock({ $0.isClosing }) { finish(.closed) } else { wait(for: error.description) }
            }
        }
    }

    private func adopt(_ descriptor: Int32, _ framing: MessageFraming) {
        // The connection's calls come on our queue, and stop when it is closed: they may not keep us alive.
        let connection = StreamConnection(
            descriptor,
            name: "instrument.cdp",
            on: queue,
            maxUnsentCount: Self.maxUnsentCount
        ) { [weak self] bytes in
            self?.received(bytes)
        } onEnd: { [weak self] reason in
            self?.lost(reason)
        }
        let (effects, epoch) = state.withLock { state in
            (state.connection, state.framing, state.isHeard, state.hasBadMessage) = (connection, framing, false, false)
            state.epoch += 1
            state.model = Self.makeModel(place, configuration, random)
            var effects = state.model.connected()
            for page in state.pages { effects += state.model.open(page) }
            state.pages = []
            return (effects, state.epoch)
        }
        perform(effects)
        if case .port = place { awaitAnswer(epoch) }
    }

    /// A program that accepts the connection and answers nothing is no browser.
    private func awaitAnswer(_ epoch: Int) {
        _ = clock.schedule(at: clock.now.advanced(by: configuration.connectTimeout)) { [weak self] in
            self?.queue.async { [weak self] in
                guard let self, let silent = state.withLock({ $0.epoch == epoch && !$0.isHeard ? $0.connection : nil })
                else { return }
                silent.close()
                lost("the browser answers nothing within \(configuration.connectTimeout.seconds) s")
            }
        }
    }

    /// Reads what the browser writes, to the end: a program whose output nobody reads stops.
    private func readOutput(of process: ChromeProcess) {
        let output = StreamConnection(process.output, name: "instrument.chr", on: queue) { bytes in
            process.keep(bytes)
        } onEnd: { _ in
        }
        state.withLock { $0.output = output }
    }

    /// Tries again after a while, or ends.
    private func wait(for reason: String) {
        guard configuration.waitsForBrowser, case .port = place else { return finish(.notThere(reason: reason)) }
        let attempts = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        if attempts == 1 { report(ChromeDiagnostic(.notThere, "no browser there: \(reason)")) }
        let alarm = clock.schedule(at: clock.now.advanced(by: configuration.retryDelay)) { [weak self] in
            self?.queue.async { [weak self] in self?.connect() }
        }
        state.withLock { $0.retry = alarm }
    }

    /// The peer or an error ended the connection.
    private func lost(_ reason: String) {
        let isFirst = state.withLock { state in
            defer { state.connection = nil }
            return state.connection != nil
        }
        guard isFirst else { return }
        let now = clock.now
        let wasHeard = state.withLock { $0.isHeard }
        var words = reason
        if case .process(let process) = place, !wasHeard { words = process.reason(reason) }
        if wasHeard { report(ChromeDiagnostic(.disconnected, "the connection to the browser ended: \(words)")) }
        perform(state.withLock { $0.model.disconnected("the browser went away", at: now) })
        switch (place, configuration.waitsForBrowser) {
        case (.port, true): wait(for: words)
        default: finish(wasHeard ? .browserWentAway(reason: words) : .notThere(reason: words))
        }
    }

    /// Ends the session; only the first call has an effect.
    private func finish(_ ending: ChromeEnding) {
        let now = clock.now
        let (isFirst, connection, retry) = state.withLock { state in
            let isFirst = state.ending == nil
            if isFirst { state.ending = ending }
            defer { state.connection = nil }
            return (isFirst, state.connection, state.retry)
        }
        guard isFirst else { return }
        retry?.cancel()
        let isOurs = if case .process = place { true } else { false }
        let effects = state.withLock { isOurs ? $0.model.stopped(at: now) : $0.model.detached(at: now) }
        if connection != nil { perform(effects) }
        connection?.close()
        guard case .process(let process) = place else { return ended.open() }
        let (isRead, output) = state.withLock { ($0.isBegun, $0.output) }
        process.end(by: clock, isRead: isRead, closing: output) { [ended] in ended.open() }
    }

    // MARK: - Messages

    private func received(_ bytes: [UInt8]) {
        for input in state.withLock({ $0.framing.append(bytes) }) {
            // What a message led to may have ended the connection.
            guard let connection = state.withLock({ $0.connection }) else { return }
            switch input {
            case .message(let message): take(message)
            case .tooLong: noteBadMessage("longer than \(configuration.maxMessageLength) bytes")
            case .reply(let reply): connection.send(reply)
            case .ended(let reason):
                connection.close()
                return lost(reason)
            }
        }
    }

    private func take(_ bytes: [UInt8]) {
        noteHeard()
        if DevToolsMessage.isIgnored(bytes) { return }
        do throws(BadDevToolsMessage) {
            let message = try DevToolsMessage(bytes)
            let now = clock.now
            perform(state.withLock { $0.model.handle(message, at: now) })
        } catch {
            noteBadMessage(error.description)
        }
    }

    private func noteBadMessage(_ reason: String) {
        let isFirst = state.withLock { state in
            defer { state.hasBadMessage = true }
            return !state.hasBadMessage
        }
        if isFirst { report(ChromeDiagnostic(.badMessage, "skipped a message of the browser: \(reason)")) }
    }

    private func noteHeard() {
        let isNews = state.withLock { state in
            defer { (state.isHeard, state.attempts) = (true, 0) }
            return !state.isHeard
        }
        if isNews { report(ChromeDiagnostic(.connected, "connected to the browser")) }
    }

    // MARK: - Effects

    private func perform(_ effects: [ChromeModel.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let command, let number):
                let (connection, bytes) = state.withLock { state in
                    (state.connection, state.framing.framed(command.bytes(number: number)))
                }
                connection?.send(bytes)
            case .opened(let element): opened(element)
            case .signal(let element, let signal): state.withLock { $0.players[element] }?.deliver([signal])
            case .closed(let element):
                let (player, listener) = state.withLock { ($0.players.removeValue(forKey: element), $0.listener) }
                if let player { listener?.gone(player) }
            case .report(let diagnostic): report(diagnostic)
            case .tab(let tab, let event): state.withLock { $0.listener }?.tab(tab, event)
            case .requested(let tab, let request): state.withLock { $0.listener }?.requested(tab, request)
            case .wake(let wake, let delay): schedule(wake, after: delay)
            }
        }
    }

    private func opened(_ element: ChromeModel.ElementID) {
        let tab = state.withLock { $0.model.targets[element.session]?.tab }
        let player = ChromePlayer(configuration.name, in: tab, on: queue) { [weak self] in
            guard let self else { return nil }
            let now = clock.now
            return state.withLock { $0.model.elements[element]?.model.status(at: now) }
        } answer: { [weak self] in
            self?.state.withLock { state in
                guard let element = state.model.elements[element], let instant = element.answered else { return nil }
                return ChromePlayer.Answer(instant: instant, buffered: element.model.player.buffered)
            }
        }
        let listener = state.withLock { state in
            state.players[element] = player
            return state.listener
        }
        listener?.opened(player)
    }

    private func schedule(_ wake: ChromeModel.Wake, after delay: Duration) {
        guard state.withLock({ $0.waking.insert(wake).inserted }) else { return }
        _ = clock.schedule(at: clock.now.advanced(by: delay)) { [weak self] in
            self?.queue.async { [weak self] in self?.wakeUp(wake) }
        }
    }

    private func wakeUp(_ wake: ChromeModel.Wake) {
        let now = clock.now
        perform(
            state.withLock { state in
                state.waking.remove(wake)
                return state.model.wake(wake, at: now)
            }
        )
    }
}
