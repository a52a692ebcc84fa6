internal import Instrument
internal import InstrumentText

/// What the beginning of a body shows: the format of a manifest, or what came in its place.
package enum ManifestContent: Hashable, Sendable, CustomStringConvertible {
    /// An HLS playlist.
    case playlist
    /// An HLS playlist that no player reads: what is wrong with its beginning, as a noun.
    case misplacedPlaylist(String)
    /// A list of addresses, as radio stations publish it, which is no HLS playlist: the list as a noun.
    case addressList(String)
    /// A DASH manifest, in any encoding.
    case mpd
    /// Other XML that is no web page, in any encoding.
    case markup
    /// A web page.
    case page
    /// JSON.
    case json
    /// MPEG-2 TS, MP4, WebM, WebVTT or packed audio.
    case media
    /// Data that is compressed.
    case compressed
    /// Other text.
    case text
    /// Other bytes.
    case binary
    /// Nothing.
    case empty

    /// Whether the content is XML.
    package var isMarkup: Bool { self == .mpd || self == .markup }

    /// The bytes that are looked at.
    private static let mostBytes = 1_024

    /// Looks at the beginning of a body.
    package init(_ bytes: [UInt8]) {
        let start = bytes.prefix(Self.mostBytes)
        if let text = Self.wideText(start) {
            let kind = Self.kind(of: text) ?? .text
            self = kind == .playlist ? .misplacedPlaylist("an HLS playlist in UTF-16") : kind
        } else if bytes.isEmpty {
            self = .empty
        } else if start.starts(with: [0x1F, 0x8B]) {
            self = .compressed
        } else if Self.isMedia(start) {
            self = .media
        } else {
            let text = String(
                decoding: start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start,
                as: UTF8.self
            )
            let kind = Self.kind(of: text) ?? Self.list(text) ?? (start.contains { $0 < 0x09 } ? .binary : .text)
            self = kind == .playlist ? Self.placed(text, of: bytes) : kind
        }
    }

    /// A playlist, or what is wrong with its beginning.
    ///
    /// - Parameter bytes: the whole body, whose beginning is the text.
    private static func placed(_ text: String, of bytes: [UInt8]) -> ManifestContent {
        guard text.hasPrefix("#") else { return .misplacedPlaylist("white space before #EXTM3U") }
        // CR and LF together are one character.
        let hasBareCR = text.utf8.contains(0x0D) && text.dropLast().contains("\r")
        guard !hasBareCR else { return .misplacedPlaylist("an HLS playlist whose lines end with CR alone") }
        let line = text.prefix { !$0.isNewline }.trimmingSpaces
        if line == "#EXTM3U" || line.hasPrefix("#EXTM3U ") {
            // The second line of most playlists is a tag of HLS; the text is read only without one.
            guard !hasTags(bytes), let list = streamList(text) else { return .playlist }
            return .addressList(list)
        }
        // Anything longer than a mistyped name may be an address with secrets.
        let isName = line.count <= 12 && line.dropFirst().utf8.allSatisfy { $0.isLetter || $0.isDigit }
        return .misplacedPlaylist(isName ? "the first line `\(line)`" : "a first line of more than #EXTM3U")
    }

    /// A playlist whose first entry has no duration, or is a whole file, as radio stations and music players write it;
    /// nil for others.
    private static func streamList(_ text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).map(\.trimmingSpaces)
        let address = lines.first { !$0.isEmpty && !$0.hasPrefix("#") }
        guard let first = lines.first(where: { $0.hasPrefix("#EXTINF:") }) else {
            return address.map { _ in "an M3U list of addresses without EXTINF" }
        }
        let duration = first.dropFirst("#EXTINF:".count).trimmingSpaces.prefix { $0 != "," && $0 != " " }
        let isStream = duration.hasPrefix("-") || !duration.isEmpty && duration.allSatisfy { $0 == "0" || $0 == "." }
        if isStream { return "an M3U list of streams, whose EXTINF has no duration" }
        let path = (address ?? "").prefix { $0 != "?" && $0 != "#" }.lowercased()
        return wholeFiles.contains { path.hasSuffix($0) } ? "an M3U list of files, without a tag of HLS" : nil
    }

    /// The endings of files that are no segments, unless a tag of HLS says so.
    private static let wholeFiles = [
        ".mp3", ".m4a", ".m4b", ".flac", ".ogg", ".oga", ".opus", ".wav", ".wma", ".mka", ".mp4", ".m4v", ".mov",
        ".mkv", ".webm", ".avi", ".m3u", ".m3u8", ".pls",
    ]

    /// Whether a line of a body is a tag that only HLS has.
    private static func hasTags(_ bytes: [UInt8]) -> Bool {
        bytes.lazy.split(separator: 0x0A).contains { line in line.drop { $0 <= 0x20 }.starts(with: "#EXT-X-".utf8) }
    }

    /// A playlist behind other lines, or a list of addresses as radio stations publish it; nil for other text.
    private static func list(_ text: String) -> ManifestContent? {
        let lines = text.split(whereSeparator: \.isNewline).map(\.trimmingSpaces)
        if lines.contains("#EXTM3U") { return .misplacedPlaylist("other lines before #EXTM3U") }
        if lines.first?.lowercased() == "[playlist]" { return .addressList("a PLS list of streams") }
        guard let first = lines.first(where: { !$0.hasPrefix("#") }) else { return nil }
        let isAddress = first.hasPrefix("http://") || first.hasPrefix("https://")
        return isAddress ? .addressList("a list of addresses without #EXTM3U") : nil
    }

    /// The text of UTF-16, by its mark or by the zeros of its first characters.
    private static func wideText(_ start: ArraySlice<UInt8>) -> String? {
        // The mark, `<`, and `#E`.
        let (big, little): ([[UInt8]], [[UInt8]]) = (
            [[0xFE, 0xFF], [0x00, 0x3C], [0x00, 0x23, 0x00, 0x45]],
            [[0xFF, 0xFE], [0x3C, 0x00], [0x23, 0x00, 0x45, 0x00]]
        )
        let isBig = big.contains { start.starts(with: $0) }
        guard isBig || little.contains(where: { start.starts(with: $0) }) else { return nil }
        let bytes = Array(start)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { place -> UInt16 in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        return String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self)
    }

    private static func kind(of text: String) -> ManifestContent? {
        let text = text.drop { $0.isWhitespace }
        if text.prefix("#EXTM3U".count).uppercased() == "#EXTM3U" { return .playlist }
        if text.isEmpty { return .empty }
        if isJSON(text) { return .json }
        guard text.hasPrefix("<") else { return nil }
        let lower = text.lowercased()
        let isPage =
            ["<!doctype html", "<html", "<head", "<body"].contains { lower.hasPrefix($0) }
            || lower.hasPrefix("<?xml") && lower.contains("<html")
        if isPage { return .page }
        return root(of: text) == "MPD" ? .mpd : .markup
    }

    /// The name of the first element of XML, without its prefix; nil where no element begins.
    private static func root(of text: Substring) -> Substring? {
        var rest = text
        while let start = rest.firstIndex(of: "<") {
            rest = rest[start...].dropFirst()
            if rest.hasPrefix("!--") {
                guard let end = rest.firstRange(of: "-->") else { return nil }
                rest = rest[end.upperBound...]
            } else if rest.first != "?", rest.first != "!" {
                let name = rest.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
                return name.split(separator: ":").last
            }
        }
        return nil
    }

    /// Whether a text begins as an object or an array of JSON does; a name in brackets is that of a section of INI.
    private static func isJSON(_ text: Substring) -> Bool {
        if text.hasPrefix("{") { return true }
        guard text.hasPrefix("["), let next = text.dropFirst().first(where: { !$0.isWhitespace }) else { return false }
        return next.isNumber || "{[]\"-".contains(next)
    }

    private static func isMedia(_ start: ArraySlice<UInt8>) -> Bool {
        let type = start.dropFirst(4).prefix(4)
        let boxes = ["ftyp", "styp", "moof", "moov", "sidx", "emsg", "mdat"]
        let isPackets =
            start.first == 0x47 && (start.count <= 188 || start.dropFirst(188).first == 0x47) && start.count >= 188
        return isPackets || boxes.contains { type.elementsEqual($0.utf8) } || start.starts(with: "WEBVTT".utf8)
            || start.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) || start.starts(with: "ID3".utf8)
    }

    /// The content as a noun.
    package var description: String {
        switch self {
        case .playlist: "an HLS playlist"
        case .misplacedPlaylist(let found), .addressList(let found): found
        case .mpd: "a DASH MPD"
        case .markup: "XML"
        case .page: "an HTML page"
        case .json: "JSON"
        case .media: "media"
        case .compressed: "compressed data"
        case .text: "other text"
        case .binary: "other binary data"
        case .empty: "an empty body"
        }
    }
}

extension ManifestContent {
    /// What came in the place of the 16 bytes of a key, as a noun; nil for a key.
    package static func keyDefect(of bytes: [UInt8]) -> String? {
        let content = ManifestContent(bytes)
        let hasSize = bytes.count == 16
        switch content {
        case .empty: return "\(content)"
        case .page, .playlist, .misplacedPlaylist, .addressList:
            return hasSize ? "\(content)" : "\(content) of \(bytes.count) bytes"
        case .json, .mpd, .markup: return hasSize ? nil : "\(content) of \(bytes.count) bytes"
        case .compressed: return hasSize ? nil : "\(content) of \(bytes.count) bytes"
        case .media, .text, .binary:
            return hasSize ? nil : writtenKey(bytes) ?? "a key of \(bytes.count) bytes"
        }
    }

    /// A key that is written as text.
    private static func writtenKey(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace
        let isHexadecimal = text.utf8.allSatisfy { $0.hexDigitValue != nil }
        if text.utf8.count == 32, isHexadecimal { return "a key as 32 hexadecimal digits" }
        // 16 bytes are 22 characters and two of padding.
        let isBase64 = text.utf8.dropLast(2).allSatisfy { $0.isDigit || $0.isLetter || "+/-_".utf8.contains($0) }
        return text.utf8.count == 24 && text.hasSuffix("==") && isBase64 ? "a key in Base64" : nil
    }
}
