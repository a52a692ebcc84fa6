internal import Instrument

/// The beginning and the end of a playlist or an MPD, and their text without secrets.
struct ManifestExcerpt: Hashable, Sendable {
    /// The bytes of each of the two parts.
    static let partBytes = 32 << 10

    /// The whole, or the beginning.
    private let start: [UInt8]
    /// Empty if nothing was left out.
    private let end: [UInt8]
    private let omitted: Int

    init(_ bytes: [UInt8]) {
        guard bytes.count > 2 * Self.partBytes else {
            (start, end, omitted) = (bytes, [], 0)
            return
        }
        start = Array(bytes.prefix(Self.partBytes))
        // Not from within an address, whose beginning says what in it is secret.
        let tail = bytes.suffix(Self.partBytes)
        let border = Self.isMarkup(bytes) ? UInt8(ascii: ">") : UInt8(ascii: "\n")
        end = tail.firstIndex(of: border).map { Array(tail[($0 + 1)...]) } ?? []
        omitted = bytes.count - start.count - end.count
    }

    var isCut: Bool { omitted > 0 }

    var isMarkup: Bool { Self.isMarkup(start) }

    private static func isMarkup(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(256).first { $0 > 0x20 && $0 < 0x80 } == UInt8(ascii: "<")
    }

    /// The text in UTF-8: addresses without user, password, query, fragment and data, and no control characters.
    var redacted: [UInt8] {
        var result = ManifestRedaction.redacted(start)
        guard isCut else { return result }
        result += Array("\n… \(omitted) bytes are left out here …\n".utf8)
        return result + ManifestRedaction.redacted(end)
    }
}

/// Takes what may be secret out of the text of playlists and MPDs.
///
/// It reads no syntax, so that a text that no parser accepts is safe, too. What follows a question mark, or a number
/// sign within a line, up to the end of the word goes: queries and fragments of addresses. So do user and password
/// before a host, the content of `data:` addresses, which may be keys, and the values of variables.
enum ManifestRedaction {
    static func redacted(_ bytes: [UInt8]) -> [UInt8] {
        var (result, index, isLineStart) = ([UInt8](), 0, true)
        result.reserveCapacity(bytes.count)
        let left = Array("…".utf8)
        while index < bytes.count {
            let byte = bytes[index]
            let wasLineStart = isLineStart
            isLineStart = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || isLineStart && byte <= 0x20
            if wasLineStart || byte == UInt8(ascii: "q") || byte == UInt8(ascii: "Q"),
                let value = secretValue(bytes, at: index, isLineStart: wasLineStart)
            {
                result += bytes[index..<value.lowerBound]
                result += left
                index = value.upperBound
                continue
            }
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            let previous = index > 0 ? bytes[index - 1] : 0
            switch byte {
            case UInt8(ascii: "?") where previous != UInt8(ascii: "<") && next != UInt8(ascii: ">"),
                UInt8(ascii: "#") where !wasLineStart && previous != UInt8(ascii: "&"):
                result.append(byte)
                index = append(left, to: &result, instead: bytes, from: index + 1)
            case UInt8(ascii: "/") where next == UInt8(ascii: "/"):
                result += [byte, next]
                index += 2
                if let host = hostStart(bytes, from: index) {
                    result += left + [UInt8(ascii: "@")]
                    index = host
                }
            case UInt8(ascii: ":") where isDataScheme(bytes, before: index):
                result.append(byte)
                index = append(left, to: &result, instead: bytes, from: index + 1)
            case 0..<0x20 where ![0x09, 0x0A, 0x0D].contains(byte), 0x7F:
                result += Array("\u{FFFD}".utf8)
                index += 1
            default:
                result.append(byte)
                index += 1
            }
        }
        return Array(String(decoding: result, as: UTF8.self).utf8)
    }

    /// Passes over the rest of a word; returns where the next one begins.
    private static func append(_ mark: [UInt8], to result: inout [UInt8], instead bytes: [UInt8], from start: Int)
        -> Int
    {
        let end = bytes[start...].firstIndex(where: endsWord) ?? bytes.count
        if end > start { result += mark }
        return end
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">")].contains(byte)
    }

    /// Where the host begins behind user and password; nil without them.
    private static func hostStart(_ bytes: [UInt8], from start: Int) -> Int? {
        let end =
            bytes[start...].firstIndex {
                endsWord($0) || [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
            } ?? bytes.count
        return bytes[start..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 }
    }

    private static func isDataScheme(_ bytes: [UInt8], before colon: Int) -> Bool {
        guard colon >= 4, lower(bytes[colon - 4..<colon]) == Array("data".utf8) else { return false }
        guard colon > 4 else { return true }
        return !bytes[colon - 5].isLetter && !bytes[colon - 5].isDigit
    }

    /// The places of the value of a variable (RFC 8216bis, section 4.4.2.3), or of a query in an attribute (ISO/IEC
    /// 23009-1, annex I); nil if none begins here.
    private static func secretValue(_ bytes: [UInt8], at index: Int, isLineStart: Bool) -> Range<Int>? {
        if isLineStart, bytes[index...].starts(with: "#EXT-X-DEFINE:".utf8) {
            let end = bytes[index...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            let key = Array("VALUE=\"".utf8)
            guard let first = (index..<end).first(where: { bytes[$0..<end].starts(with: key) }) else { return nil }
            let start = first + key.count
            return start..<(bytes[start..<end].firstIndex(of: UInt8(ascii: "\"")) ?? end)
        }
        let key = Array("querystring=".utf8)
        guard index + key.count < bytes.count, lower(bytes[index..<index + key.count]) == key else { return nil }
        let quote = bytes[index + key.count]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let start = index + key.count + 1
        return start..<(bytes[start...].firstIndex(of: quote) ?? bytes.count)
    }

    private static func lower(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }
    }
}
