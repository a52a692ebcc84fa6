internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentProbe
internal import InstrumentRules
internal import InstrumentText

/// Collects the evidence of faults: has the latest playlists, the segments of the round that lasts, and the faults of
/// the round before it. Bounded by the number of renditions.
struct EvidenceDesk: Sendable {
    /// Renditions whose playlists are kept.
    private static let mostTexts = 64
    /// Segments of one round.
    private static let mostHeads = 16

    fileprivate struct KeptText {
        var url: HTTPURL
        var time: WallTime
        var excerpt: ManifestExcerpt
    }

    fileprivate struct KeptHead {
        var url: HTTPURL
        var rendition: String
        /// Nil for a segment that did not arrive.
        var head: SegmentHead?
    }

    private var root: KeptText?
    private var texts: [String: KeptText] = [:]
    /// The segments of this round that were decoded or break a rule, the latest at the end.
    private var heads: [KeptHead] = []
    private var known: Set<String> = []

    /// Takes a playlist or an MPD.
    /// - Parameter rendition: nil for the one that the stream's address names.
    mutating func take(_ text: FetchedText, of rendition: String?) {
        let kept = KeptText(url: text.url, time: text.fetched.wallTime, excerpt: ManifestExcerpt(text.bytes))
        guard let rendition else { return root = kept }
        if texts[rendition] != nil || texts.count < Self.mostTexts { texts[rendition] = kept }
    }

    /// Takes a segment that was decoded or breaks a rule.
    /// - Parameter head: nil for a segment that did not arrive.
    mutating func take(_ head: SegmentHead?, of order: SegmentOrder) {
        if heads.count >= Self.mostHeads { heads.removeFirst() }
        heads.append(KeptHead(url: order.segment.url, rendition: order.rendition, head: head))
    }

    /// The evidence of the faults that begin in a round, by the rule or the kind of the finding. The round is over
    /// then.
    mutating func evidence(
        of round: StreamCheckRound,
        pictures: [MediaFinding.Kind: FaultyPicture]
    ) -> [String: [CheckEvidence]] {
        var evidence: [String: [CheckEvidence]] = [:]
        var names: Set<String> = []
        for finding in round.broken {
            let name = finding.rule.description
            names.insert(name)
            guard !known.contains(name) else { continue }
            evidence[name] = pieces(at: finding.resource)
        }
        for finding in round.media {
            let name = finding.kind.rawValue
            names.insert(name)
            guard !known.contains(name) else { continue }
            let picture = finding.kind == .silence ? nil : pictures[finding.kind]
            let head = heads.last { $0.rendition == finding.rendition }
            evidence[name] =
                [picture.map { CheckEvidence($0) }, playlist(of: finding.rendition), head?.evidence]
                .compactMap(\.self)
        }
        // The owner may have another limit for the age of a playlist.
        if evidence["stale"] == nil, let age = round.playlistAge, let target = round.targetDuration, age > target {
            let oldest = round.livePlaylists.max {
                $0.value.age / $0.value.targetDuration < $1.value.age / $1.value.targetDuration
            }
            evidence["stale"] = [playlist(of: oldest?.key ?? "")].compactMap(\.self)
        }
        (known, heads) = (names, [])
        return evidence
    }

    /// The evidence of a fault of the resource with this address, as findings name it.
    private func pieces(at resource: String) -> [CheckEvidence] {
        if let head = heads.last(where: { $0.url.description == resource }) {
            return [playlist(of: head.rendition), head.evidence].compactMap(\.self)
        }
        let text = texts.values.first { $0.url.description == resource } ?? root
        return [text.map { $0.evidence }].compactMap(\.self)
    }

    private func playlist(of rendition: String) -> CheckEvidence? { (texts[rendition] ?? root)?.evidence }
}

extension EvidenceDesk.KeptText {
    fileprivate var evidence: CheckEvidence {
        CheckEvidence(
            kind: .playlist,
            ending: excerpt.isMarkup ? "mpd" : "m3u8",
            text: "\(url), read at \(time.timeOfDay.prefix(8)) UTC" + (excerpt.isCut ? ", without its middle" : ""),
            bytes: excerpt.redacted
        )
    }
}

extension EvidenceDesk.KeptHead {
    fileprivate var evidence: CheckEvidence? {
        guard let head else { return nil }
        let size = head.byteCount < 10_000 ? "\(head.byteCount) bytes" : "\(head.byteCount / 1_000) kB"
        let whole = head.isCut ? "the first \(SegmentHead.mostBytes >> 10) KiB of \(size)" : size
        return CheckEvidence(kind: .segment, ending: head.ending, text: "\(url), \(whole)", bytes: head.bytes)
    }
}

extension CheckEvidence {
    fileprivate init(_ picture: FaultyPicture) {
        let what = picture.isBlack ? "The black picture" : "The frozen picture"
        self.init(
            kind: .picture,
            ending: "jpg",
            text: "\(what), reduced to \(picture.width) × \(picture.height) pixels",
            bytes: picture.jpeg
        )
    }
}

/// The first bytes of a segment, behind its initialization segment, so that players read them.
struct SegmentHead: Sendable {
    static let mostBytes = 64 << 10

    let bytes: [UInt8]
    /// The bytes of both in all.
    let byteCount: Int

    init(initialization: [UInt8], bytes: [UInt8]) {
        byteCount = initialization.count + bytes.count
        let start = initialization.prefix(Self.mostBytes)
        self.bytes = Array(start + bytes.prefix(Self.mostBytes - start.count))
    }

    var isCut: Bool { bytes.count < byteCount }

    /// The ending of a file's name by the first bytes; `bin` for an unknown form.
    var ending: String {
        if bytes.first == 0x47 { return "ts" }
        if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return "webm" }
        if bytes.starts(with: "WEBVTT".utf8) { return "vtt" }
        if bytes.count >= 8, ["ftyp", "styp", "moof", "sidx"].contains(where: { bytes[4..<8].elementsEqual($0.utf8) }) {
            return "mp4"
        }
        return bytes.starts(with: "ID3".utf8) || bytes.starts(with: [0xFF, 0xF1]) ? "aac" : "bin"
    }
}
