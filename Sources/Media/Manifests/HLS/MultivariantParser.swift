internal import InstrumentHTTP
internal import InstrumentText

/// Reads a multivariant playlist, line by line.
struct MultivariantParser {
    private var playlist: HLSMultivariantPlaylist
    private var notices: NoticeList
    private var variables: VariableTable
    private let references: ReferenceBase
    private let imports: [String: String]
    private let limits: ManifestLimits
    private var addressBudget: Int
    private var stream: AttributeList?
    /// The line of the tag of `stream`.
    private var streamLine = 0

    init(_ url: HTTPURL, _ imports: [String: String], _ limits: ManifestLimits) {
        playlist = HLSMultivariantPlaylist(url: url)
        notices = NoticeList(limit: limits.notices)
        variables = VariableTable(limits: limits)
        references = ReferenceBase(url: url)
        self.imports = imports
        self.limits = limits
        addressBudget = limits.addressBytes
    }

    mutating func parse(_ bytes: [UInt8]) throws(ManifestError) -> HLSMultivariantPlaylist {
        let miswritten = MiswrittenTags(bytes)
        playlist.miswrittenTags = miswritten.meant
        notices.add(encodingOf: bytes, miswritten)
        var lines = PlaylistLines(bytes, limits: limits)
        while let line = lines.next() {
            if line.number & 1_023 == 0 { try ManifestError.checkCancellation() }
            if let tag = line.tag { try read(tag, line) } else { try addStream(line) }
        }
        noteStreamWithoutAddress()
        guard !playlist.streams.isEmpty else {
            let tag = notices.notices.first { $0.subject == .miswrittenTag || $0.subject == .misspelledTag }
            let found = tag?.found ?? "none"
            let message = "the multivariant playlist must list a playable variant (found \(found))"
            throw ManifestError(.malformed, message, line: tag?.line)
        }
        playlist.definitions = VariableDefinitions(variables.values)
        playlist.notices = notices.notices
        return playlist
    }

    private mutating func read(_ tag: Substring, _ line: PlaylistLine) throws(ManifestError) {
        switch tag {
        case "#EXT-X-STREAM-INF":
            noteStreamWithoutAddress()
            (stream, streamLine) = (try attributes(line), line.number)
        case "#EXT-X-MEDIA": try addMedia(line)
        case "#EXT-X-I-FRAME-STREAM-INF": playlist.iFramePlaylists += 1
        case "#EXT-X-VERSION": playlist.version = DecimalText.integer(line.value) ?? 1
        case "#EXT-X-INDEPENDENT-SEGMENTS": playlist.hasIndependentSegments = true
        case "#EXT-X-START": playlist.startOffset = StartOffset(try attributes(line))
        case "#EXT-X-DEFINE":
            try variables.define(try attributes(line), url: references.url, imports: imports, line: line.number)
        case "#EXT-X-SESSION-KEY":
            let method = try attributes(line)["METHOD"] ?? ""
            if method != "NONE", method != "AES-128" {
                notices.add(.unsupportedSessionEncryption, method.excerpt(), line: line.number)
            }
        case "#EXT-X-CONTENT-STEERING":
            playlist.steering = try steering(line)
        default: break
        }
    }

    private mutating func steering(_ line: PlaylistLine) throws(ManifestError) -> ContentSteering? {
        let attributes = try attributes(line)
        guard let reference = attributes["SERVER-URI"] else {
            notices.add(.steeringWithoutServer, line: line.number)
            return nil
        }
        let order = attributes["PATHWAY-ID"].map { [$0] } ?? []
        if let text = DataAddress.bytes(of: reference) {
            return ContentSteering(url: nil, text: text, initialOrder: order)
        }
        do {
            let url = try references.resolve(reference, line: line.number, budget: &addressBudget)
            return ContentSteering(url: url, initialOrder: order)
        } catch {
            guard error.code == .referenceRefused else { throw error }
            notices.add(.referenceRefused, "of a steering server: \(error.message)", line: line.number)
            return nil
        }
    }

    private mutating func attributes(_ line: PlaylistLine) throws(ManifestError) -> AttributeList {
        try AttributeList(line.value).substituting(&variables, line: line.number)
    }

    private mutating func noteStreamWithoutAddress() {
        if stream != nil { notices.add(.streamWithoutAddress, line: streamLine) }
        stream = nil
    }

    private mutating func addStream(_ line: PlaylistLine) throws(ManifestError) {
        guard let attributes = stream else {
            // A tag that is written wrongly is one fault.
            let isMiswritten = playlist.miswrittenTags.contains(.stream)
            if !isMiswritten { notices.add(.addressWithoutStream, line: line.number) }
            return
        }
        stream = nil
        try count(line)
        let text = try variables.substitute(String(line.text), line: line.number)
        let url: HTTPURL
        do {
            url = try references.resolve(text, line: line.number, budget: &addressBudget)
        } catch {
            guard error.code == .referenceRefused else { throw error }
            return notices.add(.referenceRefused, "of a variant: \(error.message)", line: line.number)
        }
        if attributes.integer("BANDWIDTH") == nil {
            notices.add(.missingBandwidth, line: line.number)
        }
        let stream = HLSMultivariantPlaylist.Stream(url: url, attributes)
        notices.add(unknownCodecsOf: stream.codecs, line: line.number)
        playlist.streams.append(stream)
    }

    private mutating func addMedia(_ line: PlaylistLine) throws(ManifestError) {
        try count(line)
        let attributes = try attributes(line)
        guard let kind = attributes["TYPE"].flatMap(HLSMultivariantPlaylist.Media.Kind.init(rawValue:)),
            let group = attributes["GROUP-ID"]
        else {
            let known = attributes["TYPE"].map { "`TYPE=\($0.excerpt())`" }
            return notices.add(.incompleteMedia, attributes["GROUP-ID"] == nil ? nil : known, line: line.number)
        }
        var url: HTTPURL?
        if let reference = attributes["URI"] {
            do {
                url = try references.resolve(reference, line: line.number, budget: &addressBudget)
            } catch {
                guard error.code == .referenceRefused else { throw error }
                return notices.add(.referenceRefused, "of a rendition: \(error.message)", line: line.number)
            }
        }
        playlist.media.append(HLSMultivariantPlaylist.Media(kind: kind, group: group, url: url, attributes))
    }

    private func count(_ line: PlaylistLine) throws(ManifestError) {
        guard playlist.streams.count + playlist.media.count < limits.variants else {
            let message = "there are more than \(limits.variants) variants and renditions"
            throw ManifestError(.limitExceeded, message, line: line.number)
        }
    }
}

extension HLSMultivariantPlaylist.Stream {
    fileprivate init(url: HTTPURL, _ attributes: AttributeList) {
        self.init(
            url: url,
            bandwidth: attributes.integer("BANDWIDTH") ?? attributes.integer("AVERAGE-BANDWIDTH") ?? 0,
            averageBandwidth: attributes.integer("AVERAGE-BANDWIDTH"),
            codecs: CodecList.split(attributes["CODECS"]),
            resolution: attributes.resolution("RESOLUTION"),
            frameRate: attributes["FRAME-RATE"].flatMap { DecimalText.double($0) }.flatMap { $0 > 0 ? $0 : nil },
            audioGroup: attributes["AUDIO"],
            videoGroup: attributes["VIDEO"],
            subtitleGroup: attributes["SUBTITLES"],
            pathway: attributes["PATHWAY-ID"],
            hasNoCaptions: attributes["CLOSED-CAPTIONS"] == "NONE"
        )
    }
}

extension HLSMultivariantPlaylist.Media {
    fileprivate init(kind: Kind, group: String, url: HTTPURL?, _ attributes: AttributeList) {
        self.init(
            kind: kind,
            group: group,
            name: attributes["NAME"] ?? "",
            language: attributes["LANGUAGE"],
            url: url,
            isDefault: attributes.isYes("DEFAULT"),
            isAutoselected: attributes.isYes("AUTOSELECT") || attributes.isYes("DEFAULT"),
            isForced: attributes.isYes("FORCED"),
            characteristics: CodecList.split(attributes["CHARACTERISTICS"])
        )
    }
}
