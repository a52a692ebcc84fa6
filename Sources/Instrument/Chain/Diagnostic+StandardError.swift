#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Diagnostic {
    /// Returns a handler that writes the first diagnostic of each kind to standard error, as one line.
    ///
    /// An ``Instrument`` uses one by default, so that an attribute that never appears or a backend that is not used has
    /// an explanation. Each call returns a handler that has seen nothing. The lines hold neither credentials nor values
    /// of attributes. A standard error that takes no more output loses the line; the emitting thread does not wait for
    /// it.
    public static func firstOfEachKindToStandardError() -> @Sendable (Diagnostic) -> Void {
        firstOfEachKind(to: writeToStandardError)
    }

    static func firstOfEachKind(to write: @escaping @Sendable (String) -> Void) -> @Sendable (Diagnostic) -> Void {
        let seen = Lock<Set<Kind>>([])
        return { diagnostic in
            if seen.withLock({ $0.insert(diagnostic.kind).inserted }) { write(diagnostic.line) }
        }
    }

    /// The diagnostic on one line, without control characters, which could repaint a terminal.
    private var line: String {
        let (text, kind) = (Self.printable(description, atMost: 600), Self.printable(kind.description, atMost: 60))
        return "instrument: \(text) [\(kind); shown once, see onDiagnostic]\n"
    }

    /// The first scalars of a text, without control characters. The limits keep a line short enough for a pipe to take
    /// it whole.
    private static func printable(_ text: String, atMost limit: Int) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Unicode.Scalar(0xFFFD) ?? "?"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func writeToStandardError(_ line: String) {
        // Asked first, because a pipe without a reader would block the emitting thread, and a closed pipe would end the
        // process.
        var state = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&state, 1, 0) == 1, state.revents == Int16(POLLOUT) else { return }
        var line = line
        _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
