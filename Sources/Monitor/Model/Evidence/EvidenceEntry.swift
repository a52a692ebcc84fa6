package import Instrument
package import InstrumentJSON
internal import InstrumentText

/// The kind of a piece of evidence.
package enum EvidenceKind: String, Hashable, Sendable, CaseIterable {
    /// A small JPEG of a black or frozen picture, made by the monitor.
    case picture
    /// A playlist or an MPD as it was, without the secrets of its addresses; foreign text.
    case playlist
    /// The first bytes of a segment; foreign bytes.
    case segment
    /// The request that failed and those before it, as an HTTP Archive; made by the monitor, without secrets.
    case request
}

/// A piece of evidence as a check reports it.
package struct EvidencePiece: Hashable, Sendable {
    package var kind: EvidenceKind
    /// The ending of a file's name: `jpg`, `m3u8`, `mpd`, `ts`, `mp4`, …
    package var ending: String
    /// What it is, for people.
    package var text: String
    package var bytes: [UInt8]

    package init(_ kind: EvidenceKind, ending: String, text: String, bytes: [UInt8]) {
        (self.kind, self.ending, self.text, self.bytes) = (kind, ending, text, bytes)
    }
}

/// What is known of a piece of evidence that is kept; its bytes are elsewhere.
package struct EvidenceEntry: Hashable, Sendable {
    /// The largest piece, in bytes.
    package static let mostBytes = 256 << 10
    /// In bytes: one character may have thousands.
    static let longestText = 1_000

    /// Sixteen hexadecimal digits.
    package let id: String
    package let stream: String
    /// The rule, or `black`, `freeze`, `silence`.
    package let rule: String
    package let kind: EvidenceKind
    package let ending: String
    package let time: WallTime
    package let text: String
    package let byteCount: Int

    /// Creates the entry of a new piece.
    /// - Parameter number: what tells two pieces of one instant from each other.
    init(_ piece: EvidencePiece, of stream: String, rule: String, number: Int, at time: WallTime) {
        let origin = "\(stream)\n\(rule)\n\(piece.kind.rawValue)\n\(time.milliseconds)\n\(number)"
        id = String(SHA256.hexadecimal(of: origin.utf8).prefix(16))
        (self.stream, self.rule, kind, self.time) = (stream, rule, piece.kind, time)
        (ending, text) = (Self.ending(piece.ending), Self.cut(piece.text))
        byteCount = piece.bytes.count
    }

    /// Whether a text may be an identifier, and thus the name of a file.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= longestText ? text : String(decoding: text.utf8.prefix(longestText), as: UTF8.self)
    }

    private static func ending(_ text: String) -> String {
        let isPlain = (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isLetter || $0.isDigit }
        return isPlain ? text : "bin"
    }

    /// Reads ``json``; nil for another form.
    package init?(_ json: JSONValue) {
        guard json["version"] == 1, let id = json["id"]?.string, Self.isIdentifier(id),
            let stream = json["stream"]?.string, let rule = json["rule"]?.string,
            let kind = json["kind"]?.string.flatMap(EvidenceKind.init(rawValue:)), let time = json["time"]?.int,
            let byteCount = json["bytes"]?.int, (0...Self.mostBytes).contains(byteCount)
        else { return nil }
        (self.id, self.stream, self.rule, self.kind) = (id, stream, rule, kind)
        (self.time, self.byteCount) = (WallTime(milliseconds: Int64(time)), byteCount)
        ending = Self.ending(json["ending"]?.string ?? "")
        text = Self.cut(json["text"]?.string ?? "")
    }

    /// The entry for a file.
    package var json: JSONValue {
        [
            "version": 1, "id": .string(id), "stream": .string(stream), "rule": .string(rule),
            "kind": .string(kind.rawValue), "ending": .string(ending), "time": .int(Int(time.milliseconds)),
            "text": .string(text), "bytes": .int(byteCount),
        ]
    }

    /// The entry for pages.
    var document: JSONValue {
        [
            "id": .string(id), "stream": .string(stream), "kind": .string(kind.rawValue), "rule": .string(rule),
            "time": .string(time.rfc3339), "text": .string(text), "bytes": .int(byteCount),
            "href": .string("/api/evidence/" + id),
        ]
    }
}
