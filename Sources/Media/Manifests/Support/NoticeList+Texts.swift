internal import Instrument
internal import InstrumentText

extension NoticeList {
    /// Notes codec strings that name no known codec, or no profile of it.
    mutating func add(unknownCodecsOf codecs: [String], line: Int?) {
        for codec in codecs {
            if !CodecList.isKnown(codec) {
                add(.unknownCodec, "`\(codec.excerpt())`", line: line)
            } else if CodecList.lacksProfile(codec) {
                add(.codecWithoutProfile, "`\(codec)`", line: line)
            }
        }
    }

    /// Notes what RFC 8216bis section 4.1 forbids about the bytes of a playlist.
    mutating func add(encodingOf bytes: [UInt8]) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { add(.byteOrderMark, line: 1) }
        if let line = Self.paddedTag(in: bytes) { add(.paddedTag, line: line) }
        if let tag = Self.miswrittenTag(in: bytes) { add(.miswrittenTag, "`\(tag.name)`", line: tag.line) }
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let place = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        add(.invalidUTF8, line: place.map { $0 + 1 })
    }

    /// The line of the first tag with white space around its name or in front of its value; nil without one.
    private static func paddedTag(in bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var (place, number) = (0, 0)
            while place < bytes.count {
                number += 1
                let start = place
                while place < bytes.count, isSpace(bytes[place]) { place += 1 }
                if isTag(bytes[place...]) {
                    if place > start { return number }
                    while place < bytes.count, bytes[place] > 0x20, bytes[place] != UInt8(ascii: ":") { place += 1 }
                    let isColon = place < bytes.count && bytes[place] == UInt8(ascii: ":")
                    let next = isColon ? place + 1 : place
                    // A space behind a tag without a value is no part of a name.
                    if next < bytes.count, isSpace(bytes[next]), isColon { return number }
                }
                while place < bytes.count, bytes[place] != 0x0A { place += 1 }
                place += 1
            }
            return nil
        }
    }

    /// The names of tags that are written wrongly in playlists that were found.
    private static let tagNames: Set<String> = [
        "EXTINF", "EXT-X-BYTERANGE", "EXT-X-DISCONTINUITY", "EXT-X-ENDLIST", "EXT-X-I-FRAME-STREAM-INF", "EXT-X-KEY",
        "EXT-X-MAP", "EXT-X-MEDIA", "EXT-X-MEDIA-SEQUENCE", "EXT-X-PLAYLIST-TYPE", "EXT-X-PROGRAM-DATE-TIME",
        "EXT-X-STREAM-INF", "EXT-X-TARGETDURATION", "EXT-X-VERSION",
    ]

    /// The first tag with small letters in its name, or with white space before its colon.
    private static func miswrittenTag(in bytes: [UInt8]) -> (name: String, line: Int)? {
        bytes.withUnsafeBufferPointer { bytes in
            var (place, number) = (0, 0)
            while place < bytes.count {
                number += 1
                while place < bytes.count, isSpace(bytes[place]) { place += 1 }
                if place < bytes.count, bytes[place] == UInt8(ascii: "#") {
                    let start = place + 1
                    place = start
                    while place < bytes.count, bytes[place].isLetter || bytes[place] == UInt8(ascii: "-") { place += 1 }
                    let end = place
                    while place < bytes.count, isSpace(bytes[place]) { place += 1 }
                    let isApart = end < place && place < bytes.count && bytes[place] == UInt8(ascii: ":")
                    if isApart || bytes[start..<end].contains(where: { $0 >= UInt8(ascii: "a") }), end - start <= 32 {
                        let name = String(decoding: bytes[start..<end], as: UTF8.self)
                        if tagNames.contains(name.uppercased()) { return ("#" + name + (isApart ? " :" : ""), number) }
                    }
                }
                while place < bytes.count, bytes[place] != 0x0A { place += 1 }
                place += 1
            }
            return nil
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isTag(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Bool { line.starts(with: "#EXT".utf8) }
}
