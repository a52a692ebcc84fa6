internal import InstrumentText

/// What the beginning of a body shows: the format of a manifest, or what came in its place.
package enum ManifestContent: Hashable, Sendable, CustomStringConvertible {
    /// An HLS playlist.
    case playlist
    /// XML that is no web page, such as an MPD, in any encoding.
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

    /// The bytes that are looked at.
    private static let mostBytes = 1_024

    /// Looks at the beginning of a body.
    package init(_ bytes: [UInt8]) {
        let start = bytes.prefix(Self.mostBytes)
        if let text = Self.wideText(start) {
            self = Self.kind(of: text) ?? .text
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
            self = Self.kind(of: text) ?? (start.contains { $0 < 0x09 } ? .binary : .text)
        }
    }

    /// The text of UTF-16, by its mark or by the zeros of its first character.
    private static func wideText(_ start: ArraySlice<UInt8>) -> String? {
        let isBig = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0x00, 0x3C])
        guard isBig || start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0x3C, 0x00]) else { return nil }
        let bytes = Array(start)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { place -> UInt16 in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        return String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self)
    }

    private static func kind(of text: String) -> ManifestContent? {
        let text = text.drop { $0.isWhitespace }
        if text.hasPrefix("#EXTM3U") { return .playlist }
        if text.isEmpty { return .empty }
        if text.hasPrefix("{") || text.hasPrefix("[") { return .json }
        guard text.hasPrefix("<") else { return nil }
        let lower = text.lowercased()
        let isPage =
            ["<!doctype html", "<html", "<head", "<body"].contains { lower.hasPrefix($0) }
            || lower.hasPrefix("<?xml") && lower.contains("<html")
        return isPage ? .page : .markup
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
