internal import Instrument
internal import InstrumentManifests
internal import InstrumentText

/// Counts the cues of a WebVTT file (W3C WebVTT: The Web Video Text Tracks Format, section 4; in HLS, RFC 8216 section
/// 3.5), as the standard's parser finds them, and names what authors must write otherwise. Looks at the header, the map
/// of timestamps and the timing lines, and at no text.
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
        guard bytes.starts(with: Self.signature), next.map({ $0 == 0x20 || $0 == 0x09 || $0.isLineEnd }) ?? true else {
            let first = bytes.prefix { !$0.isLineEnd }
            let found =
                bytes.starts(with: Self.signature)
                ? "`\(String(decoding: first, as: UTF8.self).excerpt())`" : "\(ManifestContent(Array(bytes)))"
            return content.note("WebVTT must begin with `WEBVTT` (found \(found)); check the server's answer")
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
        if String(validating: text, as: UTF8.self) == nil {
            content.note("line \(line) must be UTF-8, as all WebVTT is")
        }
        if text.isEmpty { isInHeader = false }
        if text.starts(with: Self.map) {
            if isInHeader { return read(map: text.dropFirst(Self.map.count)) }
            content.note("X-TIMESTAMP-MAP in line \(line) must be in the header, in front of the first empty line")
        }
        // The rest of the signature's line is a comment, whatever stands there.
        guard line > 1 else { return }
        guard let arrow = Self.arrow(in: text) else {
            if Self.isMistypedTiming(text) { content.note("line \(line) must have `-->` between its times") }
            return
        }
        isInHeader = false
        var before = text[..<arrow].dropSpace
        var behind = text[(arrow + Self.arrow.count)...].dropSpace
        guard let start = Time(taking: &before), before.dropSpace.isEmpty, let end = Time(taking: &behind) else {
            return content.note(
                "line \(line) must have two times, such as '00:00:01.000 --> 00:00:02.500' (the cue is ignored)"
            )
        }
        content.cueCount += 1
        let began = start.milliseconds.saturatingMultiply(1_000_000)
        content.note(timeFrom: began, to: end.milliseconds.saturatingMultiply(1_000_000))
        // What only authors must keep.
        if end.milliseconds <= start.milliseconds {
            content.note("the second time of line \(line) must be later than the first one; the cue is never shown")
        }
        if began < content.latestStart ?? began {
            content.note("the first time of line \(line) must not be before that of an earlier cue")
        }
        content.note(start: began)
        let isApart = text[..<arrow].last?.isSpace == true && text[(arrow + Self.arrow.count)...].first?.isSpace == true
        if !isApart { content.note("line \(line) must have a space on each side of `-->`") }
        if !start.isStrict || !end.isStrict { content.note("the hours of line \(line) must have two digits or more") }
        if behind.first.map({ !$0.isSpace }) == true { content.note("line \(line) must have a space behind its times") }
    }

    /// Whether a line has two times and something else than an arrow between them, such as `->`.
    private static func isMistypedTiming(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text.dropSpace
        guard Time(taking: &rest) != nil else { return false }
        rest = rest.drop { !$0.isDigit }
        return Time(taking: &rest) != nil && rest.dropSpace.isEmpty
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
                var rest = part.dropFirst(6)
                local = Time(taking: &rest).flatMap { rest.isEmpty ? $0.milliseconds : nil }
            }
        }
        guard let timestamp, timestamp < Self.timestampLimit, let local else {
            return content.note("X-TIMESTAMP-MAP must have MPEGTS below 2^33 and a LOCAL time")
        }
        content.timestampOfZero = timestamp.nanoseconds(timescale: 90_000)
            .saturatingSubtract(local.saturatingMultiply(1_000_000))
    }

    /// `HH:MM:SS.mmm` or `MM:SS.mmm`, as the standard's parser collects it (section 6.3): hours have any number of
    /// digits, all other parts as many as here.
    private struct Time {
        let milliseconds: Int64
        /// Whether the hours have the two digits or more that authors must write (section 4.1).
        let isStrict: Bool

        /// Takes a time from the beginning of a text; nil without one.
        init?(taking text: inout ArraySlice<UInt8>) {
            guard let first = Self.digits(&text), Self.take(":", &text), let second = Self.digits(&text),
                second.count == 2
            else { return nil }
            var (hours, minutes, seconds) = (Int64(0), first.value, second.value)
            if first.count != 2 || first.value > 59 || text.first == UInt8(ascii: ":") {
                guard Self.take(":", &text), let third = Self.digits(&text), third.count == 2 else { return nil }
                (hours, minutes, seconds) = (first.value, second.value, third.value)
                isStrict = first.count >= 2
            } else {
                isStrict = true
            }
            guard Self.take(".", &text), let fraction = Self.digits(&text), fraction.count == 3, minutes < 60,
                seconds < 60
            else { return nil }
            milliseconds = hours.saturatingMultiply(3_600_000)
                .saturatingAdd((minutes * 60 + seconds) * 1000 + fraction.value)
        }

        private static func digits(_ text: inout ArraySlice<UInt8>) -> (value: Int64, count: Int)? {
            let digits = text.prefix { $0.isDigit }
            if digits.isEmpty { return nil }
            text = text[digits.endIndex...]
            let value = digits.reduce(Int64(0)) { $0.saturatingMultiply(10).saturatingAdd(Int64($1 - 0x30)) }
            return (value, digits.count)
        }

        private static func take(_ character: Unicode.Scalar, _ text: inout ArraySlice<UInt8>) -> Bool {
            guard text.first == UInt8(ascii: character) else { return false }
            text = text.dropFirst()
            return true
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0C }
    fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmingSpace: ArraySlice<UInt8> {
        let tail = drop(while: \.isSpace)
        let end = tail.lastIndex { !$0.isSpace }
        return end.map { tail[...$0] } ?? []
    }

    fileprivate var dropSpace: ArraySlice<UInt8> { drop(while: \.isSpace) }
}
