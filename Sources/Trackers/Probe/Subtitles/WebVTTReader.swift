internal import Instrument
internal import InstrumentManifests

/// Counts the cues of a WebVTT file (W3C WebVTT: The Web Video Text Tracks Format, section 4; in HLS, RFC 8216 section
/// 3.5). Looks at the header, the map of timestamps and the timing lines, and at no text.
struct WebVTTReader {
    private static let signature = Array("WEBVTT".utf8)
    private static let arrow = Array("-->".utf8)
    private static let map = Array("X-TIMESTAMP-MAP".utf8)
    /// An MPEG-2 timestamp has 33 bits.
    private static let timestampLimit: Int64 = 1 << 33

    private var content = SubtitleContent()
    private var isInHeader = true
    private var line = 0

    /// Reads a file without its byte order mark.
    static func read(_ bytes: ArraySlice<UInt8>) -> SubtitleContent {
        var reader = WebVTTReader()
        reader.readAll(bytes)
        return reader.content
    }

    private mutating func readAll(_ bytes: ArraySlice<UInt8>) {
        let next = bytes.dropFirst(Self.signature.count).first
        guard bytes.starts(with: Self.signature), next.map({ $0.isSpace || $0.isLineEnd }) ?? true else {
            return content.note("WebVTT must begin with `WEBVTT`; check the server's answer")
        }
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(where: \.isLineEnd) ?? bytes.endIndex
            line += 1
            read(line: bytes[start..<end])
            start = end + 1
            // CR and LF together are one line end.
            if end < bytes.endIndex, bytes[end] == 0x0D, start < bytes.endIndex, bytes[start] == 0x0A { start += 1 }
        }
    }

    private mutating func read(line text: ArraySlice<UInt8>) {
        if text.isEmpty { isInHeader = false }
        if isInHeader, text.starts(with: Self.map) { return read(map: text.dropFirst(Self.map.count)) }
        guard let arrow = Self.arrow(in: text) else { return }
        isInHeader = false
        let times = (text[..<arrow], text[(arrow + Self.arrow.count)...])
        guard let start = Self.time(times.0.trimmingSpace), let end = Self.time(times.1.firstWord), start < end else {
            return content.note("line \(line) must have two times, the second one later than the first one")
        }
        content.cueCount += 1
        content.note(timeFrom: start.saturatingMultiply(1_000_000), to: end.saturatingMultiply(1_000_000))
    }

    private static func arrow(in text: ArraySlice<UInt8>) -> Int? {
        var start = text.startIndex
        while let found = text[start...].firstIndex(of: UInt8(ascii: "-")) {
            if text[found...].starts(with: Self.arrow) { return found }
            start = found + 1
        }
        return nil
    }

    /// `=MPEGTS:900000,LOCAL:00:00:00.000`, in either order.
    private mutating func read(map text: ArraySlice<UInt8>) {
        var (timestamp, local): (Int64?, Int64?) = (nil, nil)
        // Two parts, or more that are not valid.
        for part in text.dropFirst().split(separator: UInt8(ascii: ","), maxSplits: 2) {
            let part = part.trimmingSpace
            if part.starts(with: Array("MPEGTS:".utf8)) {
                timestamp = Self.number(part.dropFirst(7))
            } else if part.starts(with: Array("LOCAL:".utf8)) {
                local = Self.time(part.dropFirst(6))
            }
        }
        guard let timestamp, timestamp < Self.timestampLimit, let local else {
            return content.note("X-TIMESTAMP-MAP must have MPEGTS below 2^33 and a LOCAL time")
        }
        content.timestampOfZero = timestamp.nanoseconds(timescale: 90_000)
            .saturatingSubtract(local.saturatingMultiply(1_000_000))
    }

    /// Milliseconds of `HH:MM:SS.mmm` or `MM:SS.mmm`; hours have at least two digits.
    private static func time(_ text: ArraySlice<UInt8>) -> Int64? {
        // Longer times are longer than a thousand years.
        guard text.count <= 20 else { return nil }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let last = parts.last else { return nil }
        let seconds = last.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard seconds.count == 2, seconds[0].count == 2, seconds[1].count == 3, let whole = number(seconds[0]),
            let thousandths = number(seconds[1]), parts[parts.count - 2].count == 2,
            let minutes = number(parts[parts.count - 2]), whole < 60, minutes < 60
        else { return nil }
        var hours: Int64 = 0
        if parts.count == 3 {
            guard (2...10).contains(parts[0].count), let found = number(parts[0]) else { return nil }
            hours = found
        }
        return ((hours * 60 + minutes) * 60 + whole) * 1000 + thousandths
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 }
    fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmingSpace: ArraySlice<UInt8> {
        let tail = drop(while: \.isSpace)
        let end = tail.lastIndex { !$0.isSpace }
        return end.map { tail[...$0] } ?? []
    }

    fileprivate var firstWord: ArraySlice<UInt8> { drop(while: \.isSpace).prefix { !$0.isSpace } }
}
