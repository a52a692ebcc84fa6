internal import Instrument
internal import InstrumentText

/// A line of a playlist with an address or a tag (RFC 8216 section 4.1).
struct PlaylistLine: Hashable, Sendable {
    /// The number, counted from 1.
    var number: Int
    /// The text without surrounding white space.
    var text: Substring

    /// The tag's name with `#EXT`, up to the colon; nil for an address.
    var tag: Substring? {
        guard text.utf8.first == UInt8(ascii: "#") else { return nil }
        return text.split(at: ":").before
    }
    /// The text after the tag's colon, without spaces in front, which players skip; empty without a colon.
    var value: Substring {
        guard text.utf8.first == UInt8(ascii: "#") else { return "" }
        return text.split(at: ":").after?.trimmingSpaces ?? ""
    }
}

/// Iterates over the lines of a playlist; skips blank lines and comments.
///
/// Lines end with LF or CRLF; a byte order mark at the start is skipped, although the RFC forbids it.
struct PlaylistLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var position = 0
    /// The number of the latest line, counted from 1.
    private(set) var number = 0
    private let limits: ManifestLimits
    /// The number of the first line that is too long, which ends the iteration.
    private(set) var overlong: Int?

    init(_ bytes: [UInt8], limits: ManifestLimits) {
        self.bytes = bytes
        self.limits = limits
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func next() -> PlaylistLine? {
        nextBytes().map { PlaylistLine(number: number, text: String(decoding: $0, as: UTF8.self).streamSafe[...]) }
    }

    /// The next line as it is, without surrounding white space.
    mutating func nextBytes() -> ArraySlice<UInt8>? {
        while position < bytes.count {
            let end = bytes[position...].firstIndex(of: 0x0A) ?? bytes.count
            let line = trimmed(position..<end)
            position = Swift.min(end + 1, bytes.count)
            number += 1
            guard line.count <= limits.lineBytes else {
                overlong = number
                position = bytes.count
                return nil
            }
            if !line.isEmpty, !isComment(line) { return line }
        }
        return nil
    }

    private func trimmed(_ range: Range<Int>) -> ArraySlice<UInt8> {
        var line = bytes[range]
        while let last = line.last, last <= 0x20 { line = line.dropLast() }
        while let first = line.first, first <= 0x20 { line = line.dropFirst() }
        return line
    }

    private func isComment(_ line: ArraySlice<UInt8>) -> Bool {
        line.first == UInt8(ascii: "#") && !line.starts(with: "#EXT".utf8)
    }
}
