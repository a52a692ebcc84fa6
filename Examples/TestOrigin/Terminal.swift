internal import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Colour where somebody looks.
struct Style {
    var isTerminal: Bool

    func bold(_ text: TerminalText) -> TerminalText { wrapped(text, "1") }
    func faint(_ text: TerminalText) -> TerminalText { wrapped(text, "2") }
    func link(_ text: TerminalText) -> TerminalText { wrapped(text, "36") }

    private func wrapped(_ text: TerminalText, _ code: TerminalText) -> TerminalText {
        isTerminal && getenv("NO_COLOR") == nil ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// The only places from which the program writes to a terminal: text from outside (names of files, errors) arrives escaped.
func writeToStandardError(_ text: TerminalText) { write(text, to: STDERR_FILENO) }
func writeToStandardOutput(_ text: TerminalText) { write(text, to: STDOUT_FILENO) }

private func write(_ text: TerminalText, to descriptor: Int32) {
    var rest = text.bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        // Whoever closed the stream does not want the rest.
        if written > 0 { rest = rest.dropFirst(written) } else if errno != EINTR { return }
    }
}

/// Lets as many connections be open as the system allows this user; the usual limit is 1,024.
func raiseFileLimit() {
    var limit = rlimit()
    #if canImport(Darwin)
    let files = RLIMIT_NOFILE
    #else
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    guard getrlimit(files, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(files, &limit)
}
