internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentMonitor
internal import InstrumentTerminal

/// The table of streams on a terminal.
final class WatchScreen: Sendable {
    private struct State {
        var table: StreamTable
        var wake: Gate?
    }

    /// The state, and the stream that is shown in detail.
    typealias Documents = (Result<JSONValue, MonitorClientError>, JSONValue?)

    /// Performs an action; returns what went wrong, or nil.
    typealias Act = @Sendable (StreamTable.Action) async -> String?

    private let screen = FullScreen()
    private let state: Lock<State>
    private let act: Act?

    /// - Parameter act: performs what keys ask for. Without it, only a document that names a role allows actions, and
    ///   each is refused.
    init(isColored: Bool, canAct: Bool = false, act: Act? = nil) {
        state = Lock(State(table: StreamTable(isColored: isColored, canAct: canAct)))
        self.act = act
    }

    /// Shows the table until `stop` opens or the person quits.
    /// - Parameter read: returns the state document, and the document of the stream that is shown in detail.
    func run(until stop: Gate, read: @escaping @Sendable (String?) async -> Documents) async {
        screen.open(
            onInput: { [self] bytes in
                if bytes.isEmpty { stop.open() } else { press(TerminalKey.keys(in: bytes), stop) }
            },
            onResize: { [self] in draw() }
        )
        let refreshing = Task { [self] in
            while !Task.isCancelled {
                let opened = state.withLock { $0.table.opened }
                take(await read(opened), opened)
                draw()
                await pause()
            }
        }
        _ = await stop.wait()
        refreshing.cancel()
        screen.close()
    }

    private func take(_ documents: Documents, _ opened: String?) {
        state.withLock { state in
            switch documents.0 {
            case .success(let document):
                state.table.take(document)
                state.table.problem = ""
            case .failure(let error): state.table.take(failure: error.sentence)
            }
            if opened == state.table.opened { state.table.take(detail: documents.1) }
        }
    }

    private func press(_ keys: [TerminalKey], _ stop: Gate) {
        let (hasEnded, wake, actions) = state.withLock { state in
            let opened = state.table.opened
            for key in keys { state.table.press(key) }
            // A stream that was opened just now is read at once.
            return (state.table.hasEnded, opened != state.table.opened ? state.wake : nil, state.table.takeActions())
        }
        if hasEnded { return stop.open() }
        if !actions.isEmpty { Task { await perform(actions) } }
        wake?.open()
        draw()
    }

    /// Performs what keys asked for, and says how it went.
    private func perform(_ actions: [StreamTable.Action]) async {
        for action in actions {
            let problem: String? = if let act { await act(action) } else { "this monitor has no actions" }
            let wake = state.withLock { state in
                state.table.notice = problem.map { "Refused: \($0)" } ?? action.done
                return state.wake
            }
            wake?.open()
            draw()
        }
    }

    /// Waits a second, or until something has to be read.
    private func pause() async {
        let gate = Gate()
        state.withLock { $0.wake = gate }
        let clock = SystemClock()
        let alarm = clock.schedule(at: clock.now.advanced(by: .seconds(1))) { gate.open() }
        _ = await gate.wait()
        alarm.cancel()
    }

    private func draw() {
        let size = screen.size
        state.withLock { state in screen.show(state.table.lines(columns: size.columns, rows: size.rows)) }
    }
}

extension StreamTable.Action {
    /// The notice after the action.
    fileprivate var done: TerminalText {
        switch self {
        case .acknowledge: "Acknowledged for an hour."
        case .release: "Given back."
        case .close: "Closed."
        case .tryNow(let stream): "A session of \(stream) starts now."
        case .checkNow(let stream): "A check of \(stream) starts now."
        case .silence(let stream, _): "\(stream) is silenced for an hour."
        case .maintain(let stream, _): "Planned work on \(stream) has begun, for an hour."
        case .end(let hiding): "Ended: \(hiding.text)."
        }
    }
}
