internal import Instrument

/// A position in the bytes of a markup document, which moves forwards only and never past the end.
struct MarkupCursor {
    private let bytes: [UInt8]
    private var position = 0
    /// The line of the next byte, counted from 1.
    private(set) var line = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }
    var second: UInt8? { position + 1 < bytes.count ? bytes[position + 1] : nil }

    /// Moves forwards, and counts the lines on the way: each byte once.
    mutating func skip(_ count: Int) {
        let end = min(position + count, bytes.count)
        while position < end {
            if bytes[position] == 0x0A { line += 1 }
            position += 1
        }
    }

    /// Consumes a mark if it comes next.
    mutating func take(_ mark: StaticString) -> Bool {
        guard isNext(mark, at: position) else { return false }
        skip(mark.utf8CodeUnitCount)
        return true
    }

    /// Skips white space; false without white space.
    @discardableResult
    mutating func skipSpace() -> Bool {
        let start = position
        while let byte = next, byte.isWhitespace { skip(1) }
        return position > start
    }

    /// Consumes the bytes before a byte, or the rest if the byte does not occur.
    mutating func upToByte(_ byte: UInt8) -> ArraySlice<UInt8> {
        let start = position
        skip((bytes[start...].firstIndex(of: byte) ?? bytes.count) - start)
        return bytes[start..<position]
    }

    /// Consumes the bytes before a mark, and the mark; nil if the mark does not occur.
    mutating func upTo(_ mark: StaticString) -> ArraySlice<UInt8>? {
        let (start, first) = (position, mark.utf8Start.pointee)
        while !isAtEnd {
            _ = upToByte(first)
            let end = position
            if take(mark) { return bytes[start..<end] }
            skip(1)
        }
        return nil
    }

    /// Consumes the bytes of a name; empty without a name.
    mutating func name() -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, Self.isOfName(byte) { skip(1) }
        return bytes[start..<position]
    }

    private func isNext(_ mark: StaticString, at place: Int) -> Bool {
        let count = mark.utf8CodeUnitCount
        guard bytes.count - place >= count else { return false }
        return mark.withUTF8Buffer { buffer in (0..<count).allSatisfy { bytes[place + $0] == buffer[$0] } }
    }

    /// XML 1.0 section 2.3, for ASCII; beyond it, all characters.
    static func canBeginName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
            || byte >= 0x80
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        canBeginName(byte) || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}
