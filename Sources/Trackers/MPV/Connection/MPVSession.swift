internal import Dispatch
internal import Instrument
internal import InstrumentSockets
internal import InstrumentText
internal import InstrumentTrackers

/// Connects, sends requests, receives, reports, and reconnects: drives a player's protocol and its model.
///
/// Everything that happens, happens on one serial queue. What others may read stands behind a lock.
final class MPVSession: Sendable {
    /// The location of a player.
    enum Place: Sendable {
        case socket(path: String)
        case process(MPVProcess)
    }

    struct State {
        var model = MPVModel()
        var framer: LineSplitter
        var requests = MPVRequests()
        var observer: (@Sendable (PlayerSignal) -> Void)?
        var connection: StreamConnection?
        /// Counts connections, so that the alarm of an earlier connection is ignored.
        var epoch = 0
        var attempts = 0
        var isHeard = false
        var badLineCount = 0
        /// What reads the output of a player that this process has started.
        var output: StreamConnection?
        var outputFramer = LineSplitter(maxLength: MPVSession.maxOutputLength)
        var outputCount = 0
        var retry: ScheduledAction?
        var alarms: [Int: ScheduledAction] = [:]
        var isBegun = false
        var ending: MPVEnding?
    }

    /// The maximum of malformed lines that are reported for one connection.
    private static let maxBadLineReports = 16
    /// The maximum of lines of a player's output that are reported, and their length in bytes.
    private static let maxOutputReports = 16
    private static let maxOutputLength = 1_000

    let place: Place
    let configuration: MPVConfiguration
    let clock: any SchedulingClock
    let report: @Sendable (MPVDiagnostic) -> Void
    let queue = DispatchQueue(label: "instrument.mpv")
    let state: Lock<State>
    let ended = Gate()

    init(
        _ place: Place,
        _ configuration: MPVConfiguration,
        _ clock: any SchedulingClock,
        _ report: @escaping @Sendable (MPVDiagnostic) -> Void
    ) {
        (self.place, self.configuration, self.clock, self.report) = (place, configuration, clock, report)
        state = Lock(State(framer: LineSplitter(maxLength: configuration.maxLineLength)))
    }

    func begin() {
        queue.async { [self] in
            let isFirst = state.withLock { state in
                defer { state.isBegun = true }
                return !state.isBegun && state.ending == nil
            }
            if isFirst { connect() }
        }
    }

    /// Ends the session once all pending signals are reported. It cannot be restarted.
    func close() { queue.async { [self] in finish(.closed) } }

    /// Sends a command, if a player is there.
    func send(_ command: MPVCommand) {
        queue.async { [self] in
            let (connection, number) = state.withLock { ($0.connection, $0.requests.number()) }
            connection?.send(command.line(request: number))
        }
    }

    private func connect() {
        if state.withLock({ $0.ending != nil }) { return }
        switch place {
        case .process(let process):
            read(process)
            adopt(process.descriptor)
        case .socket(let path):
            switch UnixSocket.connect(to: path) {
            case .success(let descriptor): adopt(descriptor)
            case .failure(let error): wait(for: "\(error)")
            }
        }
    }

    private func adopt(_ descriptor: Int32) {
        // The connection's calls come on our queue, and stop when it is closed: they may not keep us alive.
        let connection = StreamConnection(descriptor, name: "instrument.mpv", on: queue) { [weak self] bytes in
            self?.received(bytes)
        } onEnd: { [weak self] reason in
            self?.lost(reason)
        }
        let effects = state.withLock { state in
            state.epoch += 1
            (state.connection, state.isHeard, state.badLineCount) = (connection, false, 0)
            state.framer = LineSplitter(maxLength: configuration.maxLineLength)
            state.requests = MPVRequests()
            return state.model.connected()
        }
        let observing = MPVProperty.allCases.enumerated().map { MPVCommand.observe($1, number: $0 + 1) }
        for command in observing + [.readLog] {
            connection.send(command.line(request: state.withLock { $0.requests.number() }))
        }
        perform(effects)
    }

    /// Reads what the player writes, to the end: a player whose output nobody reads stops.
    private func read(_ process: MPVProcess) {
        let output = StreamConnection(process.output, name: "instrument.mpv", on: queue) { [weak self] bytes in
            self?.tookOutput(bytes, of: process)
        } onEnd: { _ in
        }
        state.withLock { $0.output = output }
    }

    private func tookOutput(_ bytes: [UInt8], of process: MPVProcess) {
        for line in state.withLock({ $0.outputFramer.append(bytes) }) {
            let count = state.withLock { state in
                state.outputCount += 1
                return state.outputCount
            }
            if count > Self.maxOutputReports + 1 { return }
            if count > Self.maxOutputReports {
                report(.output("more than \(Self.maxOutputReports) lines; the others are not shown"))
                return
            }
            switch line {
            case .whole(let bytes):
                report(.output(process.withoutArguments(String(decoding: bytes, as: UTF8.self))))
            case .tooLong: report(.output("a line of more than \(Self.maxOutputLength) bytes"))
            }
        }
    }

    /// Tries again after a while, or ends.
    private func wait(for reason: String) {
        let attempts = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        guard configuration.waitsForPlayer, case .socket = place else {
            return finish(.notThere(reason: reason))
        }
        if attempts == 1 { report(.notThere(reason: reason)) }
        let time = clock.now.advanced(by: configuration.delay(afterAttempt: attempts))
        let alarm = clock.schedule(at: time) { [weak self] in
            self?.queue.async { [weak self] in self?.connect() }
        }
        state.withLock { $0.retry = alarm }
    }

    private func received(_ bytes: [UInt8]) {
        let lines = state.withLock { $0.framer.append(bytes) }
        for line in lines {
            // A signal's receiver, or what a line led to, may have ended the connection.
            if state.withLock({ $0.connection == nil }) { return }
            switch line {
            case .tooLong: noteBadLine("longer than \(configuration.maxLineLength) bytes")
            case .whole(let bytes): if !bytes.isEmpty { take(bytes) }
            }
        }
    }

    private func take(_ line: [UInt8]) {
        do throws(BadMessage) {
            let message = try MPVMessage(line: line)
            noteHeard()
            let now = clock.now
            switch message {
            case .event(let event): perform(state.withLock { $0.model.handle(event, at: now) })
            case .reply(let number, let value):
                if let answers = state.withLock({ $0.requests.take(number, value) }) { answered(answers, at: now) }
            }
        } catch {
            noteBadLine(error.description)
        }
    }

    /// A peer that writes nothing else shall not fill a log.
    private func noteBadLine(_ reason: String) {
        let count = state.withLock { state in
            state.badLineCount += 1
            return state.badLineCount
        }
        if count <= Self.maxBadLineReports { report(.badLine(reason: reason)) }
    }

    private func noteHeard() {
        let isNews = state.withLock { state in
            defer { state.isHeard = true }
            if !state.isHeard { state.attempts = 0 }
            return !state.isHeard
        }
        if isNews { report(.connected) }
    }

    func perform(_ effects: [MPVModel.Effect]) {
        for effect in effects {
            switch effect {
            case .ask(let question): ask(question)
            case .signal(let signal):
                if signal.action == .streamLoad, signal.attributes[.joinedLate] == true { report(.joinedLate) }
                state.withLock { $0.observer }?(signal)
            }
        }
    }

    /// Closes a connection to a program that is not mpv.
    func drop(_ reason: String) {
        state.withLock { $0.connection }?.close()
        lost(reason)
    }

    /// The peer or an error ended the connection.
    private func lost(_ reason: String) {
        let wasHeard = state.withLock { $0.isHeard }
        if wasHeard { report(.disconnected(reason: reason)) }
        let now = clock.now
        perform(state.withLock { Self.disconnect(&$0) { $0.disconnected(at: now) } })
        switch (place, configuration.waitsForPlayer) {
        case (.socket, true): wait(for: reason)
        default: finish(wasHeard ? .playerWentAway : .notThere(reason: reason))
        }
    }

    /// Forgets the connection and returns what the model makes of it.
    private static func disconnect(
        _ state: inout State,
        _ farewell: (inout MPVModel) -> [MPVModel.Effect]
    ) -> [MPVModel.Effect] {
        for alarm in state.alarms.values { alarm.cancel() }
        state.alarms = [:]
        state.connection = nil
        return farewell(&state.model)
    }

    /// Ends the session; only the first call has an effect.
    private func finish(_ ending: MPVEnding) {
        let now = clock.now
        let (isFirst, connection, retry) = state.withLock { state in
            let isFirst = state.ending == nil
            if isFirst { state.ending = ending }
            return (isFirst, state.connection, state.retry)
        }
        guard isFirst else { return }
        retry?.cancel()
        if connection != nil { perform(state.withLock { Self.disconnect(&$0) { end(&$0, at: now) } }) }
        connection?.close()
        if case .process(let process) = place {
            if connection == nil, !state.withLock({ $0.isBegun }) {
                closeDescriptor(process.descriptor)
                closeDescriptor(process.output)
            }
            process.end(by: clock, closing: state.withLock { $0.output })
        }
        ended.open()
    }

    /// Ends a player that this process has started. Another player continues to play.
    private func end(_ model: inout MPVModel, at now: MonotonicInstant) -> [MPVModel.Effect] {
        guard case .process = place else { return model.detached(at: now) }
        return model.handle(.endFile(.quit), at: now) + model.disconnected(at: now)
    }
}
