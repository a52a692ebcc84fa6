#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What a program may write to its standard output.
package enum StandardOutput {
    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    /// Whether standard output is a terminal and the environment has no `NO_COLOR`, or an empty one (no-color.org).
    package static var isColored: Bool { isTerminal && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true) }
}
