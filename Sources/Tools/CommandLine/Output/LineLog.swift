internal import ArgumentParser
internal import Dispatch
internal import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A file of lines that are written on a serial queue, so that no caller waits for the disk.
package final class LineLog: Sendable {
    /// The treatment of a file that exists, and when lines are written.
    package enum Mode: Sendable {
        /// Lines are appended, each at once.
        case append
        /// The file is replaced, and only its owner may read it. Lines are collected and written in large pieces.
        case replace
    }

    /// Unchecked: every access is in a block of the serial `queue`.
    private final class Writer: @unchecked Sendable {
        // Sendable: every access runs on the serial queue of the log that owns the writer.
        var buffer: [UInt8] = []
        var hasFailed = false
    }

    private static let bufferSize = 64 << 10
    private let queue = DispatchQueue(label: "instrument.line-log")
    private let descriptor: Int32
    private let threshold: Int
    private let writer = Writer()

    /// Opens or creates a file. Exits with code 2 if the file cannot be written.
    package init(path: String, mode: Mode) throws {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (mode == .append ? O_APPEND : O_TRUNC)
        descriptor = open(path, flags, mode == .append ? 0o644 : 0o600)
        threshold = mode == .append ? 1 : Self.bufferSize
        if descriptor < 0 { throw ValidationError("cannot write \(path): \(SystemError(errno))") }
    }

    deinit { close(descriptor) }

    /// Appends a line; returns at once.
    package func append(_ line: [UInt8]) {
        queue.async { [self] in
            writer.buffer += line
            writer.buffer.append(UInt8(ascii: "\n"))
            if writer.buffer.count >= threshold { flush() }
        }
    }

    /// Writes the remaining lines; false if any line since the start could not be written.
    package func finish() -> Bool {
        queue.sync {
            flush()
            return !writer.hasFailed
        }
    }

    private func flush() {
        if SystemFile.writeAll(writer.buffer, to: descriptor) != 0 { writer.hasFailed = true }
        writer.buffer = []
    }
}
