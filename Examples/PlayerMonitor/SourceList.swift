internal import ArgumentParser

/// Sources out of a file: one a line; what begins with `#` is a comment.
enum SourceList {
    /// More would not fit into one process.
    private static let mostSources = 100_000
    private static let longestLine = 65_536

    /// Reads a list; `-` is standard input. Ends with 2 if it cannot be read.
    static func read(_ path: String) throws -> [String] {
        var reader = try LineReader(path: path)
        var sources: [String] = []
        while let line = try reader.next() {
            guard line.count <= longestLine else {
                throw ValidationError("\(path), line \(reader.lineNumber): this is longer than any address")
            }
            guard let source = source(in: line) else { continue }
            guard sources.count < mostSources else {
                throw ValidationError("\(path) has more than \(mostSources) sources; play it in parts")
            }
            sources.append(source)
        }
        return sources
    }

    /// What a line names; nil if it is empty or a comment.
    private static func source(in line: [UInt8]) -> String? {
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        var text = line.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        if text.isEmpty || text.first == UInt8(ascii: "#") { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
