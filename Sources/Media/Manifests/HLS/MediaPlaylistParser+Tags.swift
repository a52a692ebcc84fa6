internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

extension MediaPlaylistParser {
    mutating func read(_ tag: Substring, _ line: PlaylistLine) throws(ManifestError) {
        switch tag {
        case "#EXTINF": try readDuration(line)
        case "#EXT-X-BYTERANGE": try readByteRange(line)
        case "#EXT-X-DISCONTINUITY": isDiscontinuous = true
        case "#EXT-X-GAP": isGap = true
        case "#EXT-X-BITRATE": bitrate = DecimalText.integer(line.value).map { $0.saturatingMultiply(1_000) }
        case "#EXT-X-PROGRAM-DATE-TIME": readDate(line)
        case "#EXT-X-KEY": try readKey(line)
        case "#EXT-X-MAP": try readMap(line)
        case "#EXT-X-DATERANGE": try readDateRange(line)
        default: try readHeader(tag, line)
        }
    }

    private mutating func readHeader(_ tag: Substring, _ line: PlaylistLine) throws(ManifestError) {
        switch tag {
        case "#EXT-X-TARGETDURATION": try readTargetDuration(line)
        case "#EXT-X-MEDIA-SEQUENCE":
            if let value = try readNumber(line) { playlist.mediaSequence = value }
        case "#EXT-X-DISCONTINUITY-SEQUENCE":
            if let value = try readNumber(line) { discontinuity = value }
        case "#EXT-X-ENDLIST": (playlist.hasEnded, hasEndTag) = (true, true)
        case "#EXT-X-PLAYLIST-TYPE": readType(line)
        case "#EXT-X-VERSION": playlist.version = DecimalText.integer(line.value) ?? 1
        case "#EXTM3U": playlist.isJoined = line.number > 1
        case "#EXT-X-INDEPENDENT-SEGMENTS": playlist.hasIndependentSegments = true
        case "#EXT-X-I-FRAMES-ONLY": playlist.isIFramesOnly = true
        case "#EXT-X-START": playlist.startOffset = StartOffset(try attributes(line))
        case "#EXT-X-SERVER-CONTROL": try readServerControl(line)
        case "#EXT-X-DEFINE":
            try variables.define(try attributes(line), url: references.url, imports: imports, line: line.number)
        default: try readLowLatency(tag, line)
        }
    }

    private mutating func readLowLatency(_ tag: Substring, _ line: PlaylistLine) throws(ManifestError) {
        switch tag {
        case "#EXT-X-PART": try readPart(line)
        case "#EXT-X-PART-INF": try readPartInformation(line)
        case "#EXT-X-PRELOAD-HINT": try readPreloadHint(line)
        case "#EXT-X-RENDITION-REPORT": try readRenditionReport(line)
        case "#EXT-X-SKIP": try readSkip(line)
        case let name where HLSAdTag.Kind(rawValue: String(name)) != nil:
            if let kind = HLSAdTag.Kind(rawValue: String(name)) { readAdTag(kind, line) }
        default: break
        }
    }

    mutating func attributes(_ line: PlaylistLine) throws(ManifestError) -> AttributeList {
        try AttributeList(line.value).substituting(&variables, line: line.number)
    }

    private mutating func readDuration(_ line: PlaylistLine) throws(ManifestError) {
        let text = DecimalText.durationWithComma(line.value) ?? String(line.value.split(at: ",").before.trimmingSpaces)
        guard let value = DecimalText.nanoseconds(text) else {
            throw unreadable("`EXTINF` must have a duration in seconds", found: line.value, line)
        }
        if value < 0 { notices.add(.negativeDuration, "`\(line.value.excerpt())`", line: line.number) }
        duration = max(0, value)
    }

    private mutating func readByteRange(_ line: PlaylistLine) throws(ManifestError) {
        guard let range = Self.byteRange(line.value) else {
            throw unreadable(
                "`EXT-X-BYTERANGE` must be LENGTH or LENGTH@OFFSET, with a LENGTH above 0",
                found: line.value,
                line
            )
        }
        byteRange = range
    }

    /// The error of a value that cannot be read. Without an address, which may have secrets.
    func unreadable(_ expected: String, found value: some StringProtocol, _ line: PlaylistLine) -> ManifestError {
        let found = value.isEmpty ? "nothing" : value.contains("://") ? "an address" : "`\(value.excerpt())`"
        return ManifestError(.malformed, "\(expected) (found \(found))", line: line.number)
    }

    static func byteRange(_ text: Substring) -> (length: Int64, offset: Int64?)? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map(\.trimmingSpaces)
        guard let length = parts.first.flatMap(DecimalText.integer), length > 0, parts.count <= 2 else { return nil }
        if parts.count == 1 { return (length, nil) }
        guard let offset = parts.last.flatMap(DecimalText.integer) else { return nil }
        return (length, offset)
    }

    private mutating func readDate(_ line: PlaylistLine) {
        programDate = CalendarText.wallTime(line.value)
        if programDate == nil {
            notices.add(.invalidDate, "`\(line.value.excerpt())`", line: line.number)
        }
    }

    private mutating func readTargetDuration(_ line: PlaylistLine) throws(ManifestError) {
        // An integer by the RFC; fractions occur and are accepted.
        guard let value = DecimalText.nanoseconds(line.value), value >= 0 else {
            throw unreadable("`EXT-X-TARGETDURATION` must have a duration in seconds", found: line.value, line)
        }
        playlist.targetDuration = value
        hasTargetDuration = true
        if DecimalText.integer(line.value) == nil {
            notices.add(.fractionalTargetDuration, "`\(line.value.excerpt())`", line: line.number)
        }
    }

    private mutating func readNumber(_ line: PlaylistLine) throws(ManifestError) -> Int64? {
        guard playlist.segments.isEmpty else {
            // A second playlist in the file is one fault.
            guard !playlist.isJoined else { return nil }
            notices.add(.lateSequenceNumber, line.tag.map { String($0.dropFirst()) }, line: line.number)
            return nil
        }
        guard let value = DecimalText.integer(line.value) else {
            throw unreadable("a sequence number must be a decimal integer", found: line.value, line)
        }
        return value
    }

    private mutating func readType(_ line: PlaylistLine) {
        typeLine = line.number
        switch line.value {
        case "VOD": playlist.kind = .onDemand
        case "EVENT": playlist.kind = .event
        default: notices.add(.unknownPlaylistType, "`\(line.value.excerpt())`", line: line.number)
        }
        // The playlist must not change (section 4.3.3.5), so no segment will be added even where EXT-X-ENDLIST is
        // missing.
        if playlist.kind == .onDemand { playlist.hasEnded = true }
    }

    private mutating func readDateRange(_ line: PlaylistLine) throws(ManifestError) {
        guard dateRanges.count < limits.segments else { return }
        let attributes = try attributes(line)
        if let text = attributes["START-DATE"], CalendarText.wallTime(text) == nil {
            unreadableRanges.insert(line.number)
            notices.add(.unreadableDateRange, "`\(text.excerpt())`", line: line.number)
        }
        if !dateRanges.add(attributes.values.mapValues(\.text), line: line.number) {
            notices.add(.incompleteDateRange, line: line.number)
        }
    }

    mutating func finishDateRanges() {
        let (valid, invalidLines) = dateRanges.ranges
        playlist.dateRanges = valid
        for line in invalidLines where !unreadableRanges.contains(line) {
            notices.add(.incompleteDateRange, line: line)
        }
        for range in valid where range.contradiction != nil {
            notices.add(.contradictoryDateRange, line: range.line)
        }
    }

    private mutating func readAdTag(_ kind: HLSAdTag.Kind, _ line: PlaylistLine) {
        guard playlist.adTags.count < limits.segments else { return }
        let last = playlist.segments.last
        playlist.adTags.append(
            HLSAdTag(
                kind: kind,
                value: String(line.value),
                segment: last.map { $0.sequence.saturatingAdd(1) } ?? playlist.mediaSequence,
                position: last?.end ?? 0,
                line: line.number
            )
        )
    }

    private mutating func readKey(_ line: PlaylistLine) throws(ManifestError) {
        let attributes = try attributes(line)
        try keys.take(attributes, references, line.number, &addressBudget)
    }

    private mutating func readMap(_ line: PlaylistLine) throws(ManifestError) {
        let attributes = try attributes(line)
        guard let reference = attributes["URI"] else {
            throw ManifestError(.malformed, "`EXT-X-MAP` must have a URI attribute (found none)", line: line.number)
        }
        let url = try references.resolve(reference, line: line.number, budget: &addressBudget)
        var range: ByteRange?
        if let text = attributes["BYTERANGE"] {
            guard let (length, offset) = Self.byteRange(text[...]) else {
                throw unreadable(
                    "BYTERANGE of `EXT-X-MAP` must be LENGTH@OFFSET, with a LENGTH above 0",
                    found: text,
                    line
                )
            }
            range = ByteRange(offset: offset ?? 0, length: length)
        }
        // A section has no number that could be its vector, and encrypted samples are not in it. So a section keeps its
        // value while the window moves on.
        let encryption = keys.encryption(sequence: 0).flatMap { $0.coversContainer ? $0 : nil }
        if encryption?.method == .aes128, !keys.hasVector {
            notices.add(.mapWithoutVector, line: line.number)
        }
        map = Shared(InitializationSegment(url: url, byteRange: range, encryption: encryption))
    }
}

extension StartOffset {
    /// `EXT-X-START`; nil without an offset.
    init?(_ attributes: AttributeList) {
        guard let offset = attributes.nanoseconds("TIME-OFFSET") else { return nil }
        self.init(offset: offset, isPrecise: attributes.isYes("PRECISE"))
    }
}
