/// Cuts bytes that arrive in pieces into lines.
///
/// Reads each byte once. Skips a line that is too long to its end, so that no sender can make a program store more than
/// `maxLength` bytes of it.
package struct LineSplitter: Sendable {
    /// The bytes before a line feed.
    package enum Line: Hashable, Sendable {
        /// A line without its line feed; may be empty.
        case whole([UInt8])
        /// A line that was longer than allowed.
        case tooLong
    }

    private let maxLength: Int
    private let separator: UInt8
    private var partial: [UInt8] = []
    private var isSkipping = false

    /// Creates a splitter for lines of at most `maxLength` bytes, each ended by `separator`.
    package init(maxLength: Int, separator: UInt8 = UInt8(ascii: "\n")) {
        self.maxLength = max(1, maxLength)
        self.separator = separator
    }

    /// The lines that a piece completes. The bytes after the last line feed wait for the next piece.
    package mutating func append(_ piece: some Collection<UInt8>) -> [Line] {
        // The bytes are searched here, where their type is known: a generic search takes a call for each byte.
        piece.withContiguousStorageIfAvailable { split($0) } ?? Array(piece).withUnsafeBufferPointer { split($0) }
    }

    private mutating func split(_ piece: UnsafeBufferPointer<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: separator) {
            keep(rest[..<end])
            lines.append(takeLine())
            rest = rest[(end + 1)...]
        }
        keep(rest)
        return lines
    }

    /// The last line if no line feed followed it; nil if none began. The splitter is as new afterwards.
    package mutating func finish() -> Line? { partial.isEmpty && !isSkipping ? nil : takeLine() }

    private mutating func takeLine() -> Line {
        defer { (partial, isSkipping) = ([], false) }
        return isSkipping ? .tooLong : .whole(partial)
    }

    private mutating func keep(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        if isSkipping { return }
        if bytes.count > maxLength - partial.count {
            (partial, isSkipping) = ([], true)
        } else {
            partial += bytes
        }
    }
}
