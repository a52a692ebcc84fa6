internal import NIOCore

/// The bytes of a response; in memory, they are sliced and never copied.
enum Body: Sendable {
    /// Bytes in memory.
    case buffer(ByteBuffer)
    /// Part of a file, read while it is sent.
    case file(OpenFile, Range<Int>)
    /// Bytes once, then a line repeatedly, until the client closes the connection.
    case endless(first: ByteBuffer, line: ByteBuffer)

    static let empty = Body.buffer(ByteBuffer())

    init(_ text: String) { self = .buffer(ByteBuffer(string: text)) }

    init(_ bytes: [UInt8]) { self = .buffer(ByteBuffer(bytes: bytes)) }

    /// The number of bytes; `Int.max` without an end.
    var count: Int {
        switch self {
        case .buffer(let buffer): buffer.readableBytes
        case .file(_, let range): range.count
        case .endless: .max
        }
    }

    var isEndless: Bool { if case .endless = self { true } else { false } }

    /// Returns a part; the range is limited to the content.
    func part(_ range: Range<Int>) -> Body {
        let range = range.clamped(to: 0..<count)
        switch self {
        case .buffer(let buffer):
            return buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count).map { .buffer($0) }
                ?? .empty
        case .file(let file, let whole):
            return .file(file, (whole.lowerBound + range.lowerBound)..<(whole.lowerBound + range.upperBound))
        case .endless: return self
        }
    }

    /// Returns up to `count` bytes from `offset` on; nil if the file cannot be read.
    func bytes(at offset: Int, count: Int) -> ByteBuffer? {
        switch self {
        case .buffer(let buffer): return buffer.getSlice(at: buffer.readerIndex + offset, length: count)
        case .file(let file, let range): return file.read(at: range.lowerBound + offset, count: count)
        case .endless(let first, let line): return Self.repeated(first, line, at: offset, count: count)
        }
    }

    private static func repeated(_ first: ByteBuffer, _ line: ByteBuffer, at offset: Int, count: Int) -> ByteBuffer? {
        let head = first.readableBytes
        if offset < head {
            return first.getSlice(at: first.readerIndex + offset, length: min(count, head - offset))
        }
        guard line.readableBytes > 0 else { return nil }
        let place = (offset - head) % line.readableBytes
        return line.getSlice(at: line.readerIndex + place, length: min(count, line.readableBytes - place))
    }
}
