internal import ArgumentParser

/// Reads media sources from a file: one per line; `#` begins a comment.
package enum SourceList {
    /// The largest number of sources of one process.
    private static let mostSources = 100_000
    private static let longestLine = 65_536

    /// Reads a list; `-` is standard input. Exits with code 2 if the list cannot be read.
    package static func read(_ path: String) throws -> [String] {
        var reader = try LineReader(path: path)
        var sources: [String] = []
        while let line = try reader.next() {
            guard line.count <= longestLine else {
                throw ValidationError(
                    "\(path), line \(reader.lineNumber): a source must have at most \(longestLine) bytes (found \(line.count))"
                )
            }
            guard let source = source(in: line) else { continue }
            guard sources.count < mostSources else {
                throw ValidationError("\(path) must have at most \(mostSources) sources (found more); split the list")
            }
            sources.append(source)
        }
        return sources
    }

    /// The source in a line; nil for an empty line or a comment.
    private static func source(in line: [UInt8]) -> String? {
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        var text = line.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        if text.isEmpty || text.first == UInt8(ascii: "#") { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
