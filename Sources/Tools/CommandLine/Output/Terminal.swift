internal import Instrument
internal import InstrumentFiles
package import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Standard output for results, standard error for notes, and a line of progress below both on a terminal.
///
/// All output to the terminal goes through this type. Its methods take ``TerminalText`` instead of `String`, so
/// text from outside (titles, servers' reasons, names of files) is escaped.
package final class Terminal: Sendable {
    private struct State {
        var progress: TerminalText = ""
        var isOutputClosed = false
        /// Why the latest write to standard output failed; nil after one that succeeded.
        var failure: OutputError?
        var onOutputClosed: (@Sendable () -> Void)?
    }

    private let showsProgress: Bool
    /// The diagnostics that were noted just now.
    let repeats = RepeatLimiter()
    private let state = Lock(State())

    /// Creates a terminal; it shows progress only if standard error is a terminal and `isQuiet` is false.
    package init(isQuiet: Bool) { showsProgress = !isQuiet && isatty(STDERR_FILENO) == 1 }

    /// Whether ``show(progress:)`` has an effect.
    package var canShowProgress: Bool { showsProgress }

    /// Calls `action` once when the reader of standard output closes its end, as `head` does.
    package func whenOutputCloses(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onOutputClosed = action }
    }

    /// Writes whole lines to standard output; false if they could not be written.
    @discardableResult
    package func write(_ text: TerminalText) -> Bool { write(escaped: text.bytes) }

    /// Writes JSON and a line feed to standard output; characters that are unsafe for terminals are written as
    /// `\uXXXX`.
    @discardableResult
    package func write(json bytes: [UInt8]) -> Bool { write(TerminalText(json: bytes) + "\n") }

    /// Writes lines of a console backend, which has escaped them; false if they could not be written.
    package func write(escaped bytes: [UInt8]) -> Bool {
        let (isWritten, isNewlyClosed) = state.withLock { state in
            if state.isOutputClosed { return (true, false) }
            clear(state)
            let cause = SystemFile.writeAll(bytes, to: STDOUT_FILENO)
            draw(state)
            switch cause {
            case 0:
                state.failure = nil
                return (true, false)
            case EPIPE:
                state.isOutputClosed = true
                return (true, true)
            default:
                state.failure = OutputError(cause)
                return (false, false)
            }
        }
        if isNewlyClosed { state.withLock { $0.onOutputClosed }?() }
        return isWritten
    }

    /// Writes a result to standard output; throws if it cannot be written.
    package func output(_ text: TerminalText) throws(OutputError) { try output(escaped: text.bytes) }

    /// Writes JSON and a line feed to standard output, as a result.
    package func output(json bytes: [UInt8]) throws(OutputError) { try output(TerminalText(json: bytes) + "\n") }

    /// Writes lines of a console backend, which has escaped them, as a result.
    package func output(escaped bytes: [UInt8]) throws(OutputError) {
        if !write(escaped: bytes) { throw state.withLock { $0.failure } ?? OutputError(EIO) }
    }

    /// Throws if the latest write to standard output failed: for commands that write while they run, at their end.
    package func checkOutput() throws(OutputError) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Writes a line to standard error.
    package func note(_ line: TerminalText) {
        state.withLock { state in
            clear(state)
            writeToStandardError(line + "\n")
            draw(state)
        }
    }

    /// Replaces the line of progress; an empty text removes it.
    package func show(progress: TerminalText) {
        guard showsProgress else { return }
        state.withLock { state in
            clear(state)
            state.progress = progress
            draw(state)
        }
    }

    private func clear(_ state: State) {
        if showsProgress, !state.progress.isEmpty { writeToStandardError("\r\u{1B}[K") }
    }

    private func draw(_ state: State) {
        guard showsProgress, !state.progress.isEmpty else { return }
        writeToStandardError(state.progress.prefix(columns: Self.columns - 1))
    }

    /// The width of the terminal: a longer line would wrap and could not be erased.
    private static var columns: Int {
        let columns = windowSize(of: STDERR_FILENO)?.columns ?? 80
        return columns > 1 ? columns : 80
    }
}
