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

    /// Notes what RFC 8216bis section 4.1 forbids about the bytes of a playlist, and tags that are written wrongly.
    mutating func add(encodingOf bytes: [UInt8], _ miswritten: MiswrittenTags) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { add(.byteOrderMark, line: 1) }
        if let line = Self.paddedTag(in: bytes) { add(.paddedTag, line: line) }
        if let tag = miswritten.first { add(.miswrittenTag, "`\(tag.name)`", line: tag.line) }
        if let (tag, meant) = miswritten.misspelled {
            add(.misspelledTag, "`\(tag.name)` for \(meant.rawValue)", line: tag.line)
        }
        add(controlCharactersOf: bytes)
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let place = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        add(.invalidUTF8, line: place.map { $0 + 1 })
    }

    /// Notes the first control character, except tabs and line breaks, which neither playlists nor XML may have.
    mutating func add(controlCharactersOf bytes: [UInt8]) {
        guard let place = bytes.firstIndex(where: Self.isControl) else { return }
        let line = bytes[..<place].count { $0 == 0x0A } + 1
        let digits = String(bytes[place], radix: 16, uppercase: true)
        add(.controlCharacter, "U+" + String(repeating: "0", count: 4 - digits.count) + digits, line: line)
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 ? byte != 0x09 && byte != 0x0A && byte != 0x0D : byte == 0x7F
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

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isTag(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Bool { line.starts(with: "#EXT".utf8) }
}
