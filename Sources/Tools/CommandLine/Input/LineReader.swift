internal import ArgumentParser
internal import Instrument
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Reads lines from a file or from standard input, one at a time.
package struct LineReader: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private let longestLine: Int
    private var splitter: LineSplitter
    /// Lines that were read and not yet returned, from `position` on.
    private var lines: [LineSplitter.Line] = []
    private var position = 0
    private var isAtEnd = false
    /// The number of the latest line, from 1.
    package private(set) var lineNumber = 0

    /// Opens a file; `-` is standard input. Exits with code 2 if the file cannot be opened.
    ///
    /// - Parameter longestLine: in bytes. A longer line is no line that any of our files has: a device that never ends,
    ///   or a binary file.
    package init(path: String, longestLine: Int = 64 << 20) throws {
        (self.path, self.longestLine) = (path, longestLine)
        splitter = LineSplitter(maxLength: longestLine)
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw ValidationError("cannot read \(path): \(SystemError(errno))") }
    }

    deinit { close(descriptor) }

    /// Whether the next line was read already, so that `next` neither waits nor fails.
    package var hasNextAtHand: Bool {
        if position < lines.count, case .whole = lines[position] { return true }
        return false
    }

    /// Returns the next line without its line feed; nil after the last line. Exits with code 2 if the file
    /// cannot be read, or has a longer line than allowed.
    package mutating func next() throws -> [UInt8]? {
        while position == lines.count {
            if isAtEnd { return nil }
            try fill()
        }
        defer { position += 1 }
        lineNumber += 1
        guard case .whole(let line) = lines[position] else {
            throw ValidationError("\(path), line \(lineNumber): a line must have at most \(longestLine >> 20) MiB")
        }
        return line
    }

    /// Replaces the lines by those that the next piece of the file completes; the last piece completes the last line.
    private mutating func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var count = -1
        repeat { count = read(descriptor, &chunk, chunk.count) } while count < 0 && errno == EINTR
        if count < 0 { throw ValidationError("cannot read \(path): \(SystemError(errno))") }
        isAtEnd = count == 0
        lines = isAtEnd ? splitter.finish().map { [$0] } ?? [] : splitter.append(chunk.prefix(count))
        position = 0
    }
}
