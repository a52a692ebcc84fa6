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

/// Standard output did not accept a result.
package struct OutputError: Error, CustomStringConvertible {
    package let description: String

    package init(_ number: Int32) {
        description = "cannot write to standard output: \(SystemError(number))"
    }
}

/// Writes text to standard error.
package func writeToStandardError(_ text: TerminalText) {
    _ = SystemFile.writeAll(text.bytes, to: STDERR_FILENO)
}
