internal import Instrument

/// A tag of HLS (RFC 8216bis section 4.4) by its name without the number sign, and texts that are nearly one. The first
/// line has a separate rule.
package enum TagName: String, Hashable, Sendable, CaseIterable {
    case bitrate = "EXT-X-BITRATE"
    case byteRange = "EXT-X-BYTERANGE"
    case contentSteering = "EXT-X-CONTENT-STEERING"
    case dateRange = "EXT-X-DATERANGE"
    case define = "EXT-X-DEFINE"
    case discontinuity = "EXT-X-DISCONTINUITY"
    case discontinuitySequence = "EXT-X-DISCONTINUITY-SEQUENCE"
    case endList = "EXT-X-ENDLIST"
    case gap = "EXT-X-GAP"
    case keyframeStream = "EXT-X-I-FRAME-STREAM-INF"
    case keyframesOnly = "EXT-X-I-FRAMES-ONLY"
    case independentSegments = "EXT-X-INDEPENDENT-SEGMENTS"
    case key = "EXT-X-KEY"
    case map = "EXT-X-MAP"
    case media = "EXT-X-MEDIA"
    case mediaSequence = "EXT-X-MEDIA-SEQUENCE"
    case part = "EXT-X-PART"
    case partInformation = "EXT-X-PART-INF"
    case playlistType = "EXT-X-PLAYLIST-TYPE"
    case preloadHint = "EXT-X-PRELOAD-HINT"
    case programDateTime = "EXT-X-PROGRAM-DATE-TIME"
    case renditionReport = "EXT-X-RENDITION-REPORT"
    case serverControl = "EXT-X-SERVER-CONTROL"
    case sessionData = "EXT-X-SESSION-DATA"
    case sessionKey = "EXT-X-SESSION-KEY"
    case skip = "EXT-X-SKIP"
    case start = "EXT-X-START"
    case stream = "EXT-X-STREAM-INF"
    case targetDuration = "EXT-X-TARGETDURATION"
    case version = "EXT-X-VERSION"
    case segmentDuration = "EXTINF"

    /// Tags of packagers and of earlier drafts, which mean no other tag.
    private static let others: Set<String> = [
        "EXTM3U", "EXT-X-ALLOW-CACHE", "EXT-X-ASSET", "EXT-X-CUE", "EXT-X-CUE-IN", "EXT-X-CUE-OUT",
        "EXT-X-CUE-OUT-CONT", "EXT-X-IMAGE-STREAM-INF", "EXT-X-IMAGES-ONLY", "EXT-X-PREFETCH",
        "EXT-X-PREFETCH-DISCONTINUITY", "EXT-X-SCTE35", "EXT-X-SPLICEPOINT-SCTE35", "EXT-X-TILES",
    ]

    /// The tag that a name in capital letters nearly is; nil for a tag, and for a name that is far from all of them.
    ///
    /// Long names may differ by two letters; a short name that differs by one may be another tag, except `EXTINF`.
    static func meant(by name: String) -> TagName? {
        guard TagName(rawValue: name) == nil, !others.contains(name) else { return nil }
        let letters = Array(name.utf8)
        if letters.count < 10 { return distance(letters, Array("EXTINF".utf8), limit: 1).map { _ in segmentDuration } }
        var nearest: (name: TagName, distance: Int)?
        for tag in allCases where tag.rawValue.utf8.count >= 10 {
            let limit = tag.rawValue.utf8.count >= 16 && letters.count >= 16 ? 2 : 1
            guard let distance = distance(letters, Array(tag.rawValue.utf8), limit: limit),
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
    private(set) var misspelled: (place: Place, meant: TagName)?
    /// The tags that are meant.
    private(set) var meant: Set<TagName> = []

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
            guard let tag = TagName(rawValue: text.uppercased()) else { return }
            meant.insert(tag)
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
