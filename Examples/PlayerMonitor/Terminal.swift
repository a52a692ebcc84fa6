internal import Instrument
internal import InstrumentFiles
internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Standard output for results, standard error for everything else: the one place that writes to either. Keeps a line of progress below both where a person
/// watches.
///
/// The only place from which the program writes to a terminal. It takes ``TerminalText`` and no `String`, so that text
/// from outside (titles, servers' reasons, names of files) arrives escaped.
final class Terminal: Sendable {
    private struct State {
        var progress: TerminalText = ""
        var isOutputClosed = false
        /// Why standard output did not take something.
        var failure: OutputError?
    }

    private let showsProgress: Bool
    private let state = Lock(State())
    private let onOutputClosed = Lock<(@Sendable () -> Void)?>(nil)

    /// Progress is shown only if standard error is a terminal and nobody asked for quiet.
    init(isQuiet: Bool) { showsProgress = !isQuiet && isatty(STDERR_FILENO) == 1 }

    var canShowProgress: Bool { showsProgress }

    /// Calls `action` once if the reader of standard output goes away, as `head` does.
    func whenOutputCloses(_ action: @escaping @Sendable () -> Void) { onOutputClosed.withLock { $0 = action } }

    /// Writes whole lines to standard output; false if they were not taken.
    @discardableResult
    func write(_ text: TerminalText) -> Bool { write(escaped: text.bytes) }

    /// Writes JSON and a line feed to standard output; what is unsafe for terminals is escaped as JSON has it.
    @discardableResult
    func write(json bytes: [UInt8]) -> Bool { write(TerminalText(json: bytes) + "\n") }

    /// Writes lines of a console backend, which escapes them itself; false if they were not taken.
    func write(escaped bytes: [UInt8]) -> Bool {
        let (isWritten, isNewlyClosed) = state.withLock { state in
            if state.isOutputClosed { return (true, false) }
            clear(state)
            let isWritten = writeAll(bytes, to: STDOUT_FILENO)
            let number = errno
            let isClosed = !isWritten && number == EPIPE
            if isClosed { state.isOutputClosed = true } else if !isWritten { state.failure = OutputError(number) }
            draw(state)
            return (isWritten || isClosed, isClosed)
        }
        if isNewlyClosed { onOutputClosed.withLock { $0 }?() }
        return isWritten
    }

    /// Writes a result to standard output, for a command that has nothing to do if nobody takes it.
    func output(_ text: TerminalText) throws(OutputError) { try output(escaped: text.bytes) }

    /// Writes JSON and a line feed to standard output, as a result.
    func output(json bytes: [UInt8]) throws(OutputError) { try output(TerminalText(json: bytes) + "\n") }

    /// Writes lines of a console backend, which escapes them itself, as a result.
    func output(escaped bytes: [UInt8]) throws(OutputError) {
        if !write(escaped: bytes) { throw state.withLock { $0.failure } ?? OutputError(EIO) }
    }

    /// Writes a line to standard error.
    func note(_ line: TerminalText) {
        state.withLock { state in
            clear(state)
            writeToStandardError(line + "\n")
            draw(state)
        }
    }

    /// Shows a line of progress in place of the one before; an empty one takes it away.
    func show(progress: TerminalText) {
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

    /// A line that wraps could not be taken back.
    private static var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1
        return isKnown ? Int(size.ws_col) : 80
    }
}

extension Terminal {
    /// Says what was not delivered; true if everything was.
    func noteUndelivered(_ watch: DeliveryWatch) -> Bool {
        let lines = watch.lines()
        for line in lines { note(TerminalText(line)) }
        return lines.isEmpty
    }
}

/// Standard output did not take a result.
struct OutputError: Error, CustomStringConvertible {
    let description: String

    init(_ number: Int32) {
        description = "cannot write to standard output: \(String(cString: strerror(number)))"
    }
}

/// Writes text to standard error.
func writeToStandardError(_ text: TerminalText) { _ = writeAll(text.bytes, to: STDERR_FILENO) }

/// Writes all bytes; false if they were not taken.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    SystemFile.writeAll(bytes, to: descriptor) == 0
}
