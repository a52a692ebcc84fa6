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

    private let screen = FullScreen()
    private let state: Lock<State>

    init(isColored: Bool) { state = Lock(State(table: StreamTable(isColored: isColored))) }

    /// Shows the table until `stop` opens or the person quits.
    /// - Parameter read: returns the state document, and the document of the stream that is shown in detail.
    func run(until stop: Gate, read: @escaping @Sendable (String?) async -> (JSONValue?, JSONValue?)) async {
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

    private func take(_ documents: (JSONValue?, JSONValue?), _ opened: String?) {
        state.withLock { state in
            if let document = documents.0 {
                state.table.take(document)
                state.table.problem = ""
            } else {
                state.table.problem = "The monitor does not answer; the figures are old. Retrying."
            }
            if opened == state.table.opened { state.table.take(detail: documents.1) }
        }
    }

    private func press(_ keys: [TerminalKey], _ stop: Gate) {
        let (hasEnded, wake) = state.withLock { state in
            let opened = state.table.opened
            for key in keys { state.table.press(key) }
            // A stream that was opened just now is read at once.
            return (state.table.hasEnded, opened != state.table.opened ? state.wake : nil)
        }
        if hasEnded { return stop.open() }
        wake?.open()
        draw()
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
