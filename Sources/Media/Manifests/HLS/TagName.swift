internal import Instrument

/// The names of tags (RFC 8216bis section 4.4), and texts that are nearly one of them.
enum TagName {
    /// The tags of HLS, without the number sign. The first line has a separate rule.
    static let standard: Set<String> = [
        "EXTINF", "EXT-X-BITRATE", "EXT-X-BYTERANGE", "EXT-X-CONTENT-STEERING", "EXT-X-DATERANGE", "EXT-X-DEFINE",
        "EXT-X-DISCONTINUITY", "EXT-X-DISCONTINUITY-SEQUENCE", "EXT-X-ENDLIST", "EXT-X-GAP", "EXT-X-I-FRAME-STREAM-INF",
        "EXT-X-I-FRAMES-ONLY", "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-KEY", "EXT-X-MAP", "EXT-X-MEDIA",
        "EXT-X-MEDIA-SEQUENCE", "EXT-X-PART", "EXT-X-PART-INF", "EXT-X-PLAYLIST-TYPE", "EXT-X-PRELOAD-HINT",
        "EXT-X-PROGRAM-DATE-TIME", "EXT-X-RENDITION-REPORT", "EXT-X-SERVER-CONTROL", "EXT-X-SESSION-DATA",
        "EXT-X-SESSION-KEY", "EXT-X-SKIP", "EXT-X-START", "EXT-X-STREAM-INF", "EXT-X-TARGETDURATION", "EXT-X-VERSION",
    ]

    /// Tags of packagers and of earlier drafts, which mean no other tag.
    private static let others: Set<String> = [
        "EXTM3U", "EXT-X-ALLOW-CACHE", "EXT-X-ASSET", "EXT-X-CUE", "EXT-X-CUE-IN", "EXT-X-CUE-OUT",
        "EXT-X-CUE-OUT-CONT", "EXT-X-IMAGE-STREAM-INF", "EXT-X-IMAGES-ONLY", "EXT-X-PREFETCH",
        "EXT-X-PREFETCH-DISCONTINUITY", "EXT-X-SCTE35", "EXT-X-SPLICEPOINT-SCTE35", "EXT-X-TILES",
    ]

    /// The tag that a name in capital letters nearly is; nil for a tag, and for a name that is far from all of them.
    ///
    /// Long names may differ by two letters; a short name that differs by one may be another tag, except `EXTINF`.
    static func meant(by name: String) -> String? {
        guard !standard.contains(name), !others.contains(name) else { return nil }
        let letters = Array(name.utf8)
        if letters.count < 10 { return distance(letters, Array("EXTINF".utf8), limit: 1).map { _ in "EXTINF" } }
        var nearest: (name: String, distance: Int)?
        for tag in standard.sorted() where tag.utf8.count >= 10 {
            let limit = tag.utf8.count >= 16 && letters.count >= 16 ? 2 : 1
            guard let distance = distance(letters, Array(tag.utf8), limit: limit),
                nearest.map({ distance < $0.distance }) ?? true
            else { continue }
            nearest = (tag, distance)
        }
        return nearest?.name
    }

    /// The number of letters to change, add, remove or swap with their neighbour; nil above a limit.
    private static func distance(_ first: [UInt8], _ second: [UInt8], limit: Int) -> Int? {
        guard abs(first.count - second.count) <= limit else { return nil }
        var (earlier, above) = ([Int](), Array(0...second.count))
        for row in 1...first.count {
            var current = [row]
            for column in 1...second.count {
                let isSame = first[row - 1] == second[column - 1]
                var least = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                    least = min(least, earlier[column - 2] + 1)
                }
                current.append(least)
            }
            (earlier, above) = (above, current)
        }
        return above[second.count] <= limit ? above[second.count] : nil
    }
}

/// The tags of a playlist that players ignore because their names are written wrongly.
struct MiswrittenTags: Sendable {
    /// A name as written, with its number sign, and its line, counted from 1.
    struct Place: Sendable {
        var name: String
        var line: Int
    }

    /// The first tag with small letters in its name, or with white space before its colon.
    private(set) var first: Place?
    /// The first tag whose name is nearly that of another one, and that name.
    private(set) var misspelled: (place: Place, meant: String)?
    /// The tags that are meant.
    private(set) var meant: Set<String> = []

    /// The names of one playlist whose distance to tags is measured.
    private static let mostMeasured = 200
    private static let mostKnown = 16
    private static let longest = 40

    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            var (place, number) = (0, 0)
            // The first names: the tags of segments repeat each other.
            var (known, measured) = ([[UInt8]](), 0)
            while place < bytes.count {
                number += 1
                while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
                if place < bytes.count, bytes[place] == UInt8(ascii: "#") {
                    let start = place + 1
                    place = start
                    while place < bytes.count, Self.isOfName(bytes[place]) { place += 1 }
                    let name = bytes[start..<place]
                    let end = place
                    while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
                    let isApart = end < place && place < bytes.count && bytes[place] == UInt8(ascii: ":")
                    let isKnown = !isApart && known.contains { $0.count == name.count && $0.elementsEqual(name) }
                    if !isKnown, 5...Self.longest ~= name.count, Self.canBeTag(name) {
                        // A name in front of other words is a comment.
                        let isEnded = place >= bytes.count || ":\r\n".utf8.contains(bytes[place])
                        let isMeasured = isEnded && measured < Self.mostMeasured
                        take(name, line: number, isApart: isApart, isMeasured: isMeasured)
                        measured += 1
                        if known.count < Self.mostKnown { known.append(Array(name)) }
                    }
                }
                while place < bytes.count, bytes[place] != 0x0A { place += 1 }
                place += 1
            }
        }
    }

    private mutating func take(
        _ name: Slice<UnsafeBufferPointer<UInt8>>,
        line: Int,
        isApart: Bool,
        isMeasured: Bool
    ) {
        let text = String(decoding: name, as: UTF8.self)
        let hasSmallLetters = name.contains { $0 >= UInt8(ascii: "a") }
        if isApart || hasSmallLetters {
            guard TagName.standard.contains(text.uppercased()) else { return }
            meant.insert(text.uppercased())
            first = first ?? Place(name: "#" + text + (isApart ? " :" : ""), line: line)
        } else if isMeasured, let tag = TagName.meant(by: text) {
            meant.insert(tag)
            misspelled = misspelled ?? (Place(name: "#" + text, line: line), tag)
        }
    }

    /// Whether a name begins as that of a tag does, in any case.
    private static func canBeTag(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        name.prefix(3).elementsEqual("EXT".utf8) { $0 & 0xDF == $1 }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
