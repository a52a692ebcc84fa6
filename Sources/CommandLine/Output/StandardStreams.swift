package import InstrumentTerminal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Standard output did not accept a result.
package struct OutputError: Error, CustomStringConvertible {
    package let description: String

    package init(_ number: Int32) {
        description = "cannot write to standard output: \(String(cString: strerror(number)))"
    }
}

/// Writes text to standard error.
package func writeToStandardError(_ text: TerminalText) { _ = writeAll(text.bytes, to: STDERR_FILENO) }

/// Writes all bytes; false if the system did not accept them, with the reason in `errno`.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written > 0 { rest = rest.dropFirst(written) } else if errno != EINTR { return false }
    }
    return true
}
