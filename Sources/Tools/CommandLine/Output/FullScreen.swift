internal import Dispatch
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

/// The terminal as a screen of lines: the alternate screen and single keys, until ``close()`` puts everything back.
package final class FullScreen: Sendable {
    /// Sendable: a source of Dispatch may be cancelled from any thread.
    private struct Source: @unchecked Sendable { let source: any DispatchSourceProtocol }

    private struct State {
        /// Whether the terminal is taken: a frame that comes later would stay on the screen of the shell.
        var isOpen = false
        var before = termios()
        var sources: [Source] = []
    }

    private let state = Lock(State())

    /// Whether standard input and output are a terminal.
    package static var isAvailable: Bool { StandardOutput.isTerminal && isatty(STDIN_FILENO) == 1 }

    package init() {}

    /// Takes the terminal. Ctrl-C stays a signal.
    /// - Parameters:
    ///   - onInput: receives the bytes of keys; called with no bytes when the input has ended. On a queue of Dispatch.
    ///   - onResize: called when the terminal has another size.
    package func open(
        onInput: @escaping @Sendable ([UInt8]) -> Void,
        onResize: @escaping @Sendable () -> Void
    ) {
        var raw = termios()
        tcgetattr(STDIN_FILENO, &raw)
        let before = raw
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        state.withLock { state in
            (state.isOpen, state.before) = (true, before)
            Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
        }
        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        input.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count <= 0 { input.cancel() }
            onInput(Array(bytes.prefix(max(0, count))))
        }
        let resize = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .global())
        resize.setEventHandler(handler: onResize)
        let sources = [Source(source: input), Source(source: resize)]
        state.withLock { $0.sources = sources }
        input.resume()
        resize.resume()
    }

    /// The size in columns and rows.
    package var size: (columns: Int, rows: Int) { windowSize(of: STDOUT_FILENO) ?? (80, 24) }

    /// Shows lines from the top, as one synchronised frame: no line is seen half drawn. Does nothing after ``close()``.
    package func show(_ lines: [TerminalText]) {
        let frame = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
        let text: TerminalText = "\u{1B}[?2026h\u{1B}[H" + frame + "\u{1B}[J\u{1B}[?2026l"
        state.withLock { if $0.isOpen { Self.write(text) } }
    }

    /// Puts the terminal back as it was.
    package func close() {
        let sources = state.withLock { state -> [Source] in
            guard state.isOpen else { return [] }
            state.isOpen = false
            Self.write("\u{1B}[?25h\u{1B}[?1049l")
            tcsetattr(STDIN_FILENO, TCSANOW, &state.before)
            return state.sources
        }
        for source in sources { source.source.cancel() }
    }

    private static func write(_ text: TerminalText) { _ = SystemFile.writeAll(text.bytes, to: STDOUT_FILENO) }
}
