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

/// Standard input, output and error of the process.
enum StandardStreams {
    /// Occupies the descriptors of streams that were closed when the process began, so that no file that it opens takes
    /// their numbers and receives what is written to a stream. Writing to such a stream fails as before.
    static func occupy() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is that of the closed stream.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}

/// Writes text to standard error.
package func writeToStandardError(_ text: TerminalText) {
    _ = SystemFile.writeAll(text.bytes, to: STDERR_FILENO)
}
