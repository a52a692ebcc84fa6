internal import ArgumentParser

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
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// The number of the latest line, from 1.
    package private(set) var lineNumber = 0

    /// Opens a file; `-` is standard input. Exits with code 2 if the file cannot be opened.
    package init(path: String) throws {
        self.path = path
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw ValidationError("cannot read \(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Returns the next line without its line feed; nil after the last line. Exits with code 2 if the file
    /// cannot be read.
    package mutating func next() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            let rest = buffer[position...]
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                position = end + 1
                lineNumber += 1
                return line + rest[..<end]
            }
            line += rest
            if try !fill() {
                if line.isEmpty { return nil }
                lineNumber += 1
                return line
            }
        }
    }

    /// Reads the next piece of the file; false at the end.
    private mutating func fill() throws -> Bool {
        (buffer, position) = ([], 0)
        while !isAtEnd {
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(descriptor, &chunk, chunk.count)
            if count > 0 {
                buffer = Array(chunk.prefix(count))
                return true
            }
            if count == 0 { isAtEnd = true }
            if count < 0, errno != EINTR {
                throw ValidationError("cannot read \(path): \(String(cString: strerror(errno)))")
            }
        }
        return false
    }
}
