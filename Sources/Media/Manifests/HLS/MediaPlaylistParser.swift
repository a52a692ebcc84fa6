internal import Instrument
internal import InstrumentHTTP

/// Reads a media playlist, line by line.
struct MediaPlaylistParser {
    var playlist: HLSMediaPlaylist
    var notices: NoticeList
    var variables: VariableTable
    let references: ReferenceBase
    let imports: [String: String]
    let limits: ManifestLimits
    var addressBudget: Int

    // The properties of the next address.
    var duration: Int64?
    var byteRange: (length: Int64, offset: Int64?)?
    var isDiscontinuous = false
    var isGap = false
    var programDate: WallTime?
    var parts: [PartialSegment] = []
    /// The number of all parts.
    var partCount = 0

    // The properties from this line on.
    var discontinuity: Int64 = 0
    var bitrate: Int64?
    var keys = KeyLine()
    var map: Shared<InitializationSegment>?
    var hasTargetDuration = false
    var hasEndTag = false
    /// The line of `EXT-X-PLAYLIST-TYPE`.
    var typeLine: Int?
    var dateRanges = DateRangeTable()
    /// The lines of date ranges whose date cannot be read.
    var unreadableRanges: Set<Int> = []
    /// What the playlists of other renditions have last, as far as the tags say it.
    var reports: [(url: HTTPURL, sequence: Int64?, part: Int?)] = []
    /// The last programme date: the start time and the date.
    var dateAnchor: (start: Int64, date: WallTime)?

    init(_ url: HTTPURL, _ imports: [String: String], _ limits: ManifestLimits) {
        playlist = HLSMediaPlaylist(url: url)
        notices = NoticeList(limit: limits.notices)
        variables = VariableTable(limits: limits)
        references = ReferenceBase(url: url)
        self.imports = imports
        self.limits = limits
        addressBudget = limits.addressBytes
    }

    mutating func parse(_ bytes: [UInt8]) throws(ManifestError) -> HLSMediaPlaylist {
        let miswritten = MiswrittenTags(bytes)
        playlist.miswrittenTags = miswritten.meant
        notices.add(encodingOf: bytes, miswritten)
        var lines = PlaylistLines(bytes, limits: limits)
        while let line = lines.next() {
            if line.number & 1_023 == 0 { try ManifestError.checkCancellation() }
            if let tag = line.tag { try read(tag, line) } else { try addSegment(line) }
        }
        finish()
        return playlist
    }

    private mutating func addSegment(_ line: PlaylistLine) throws(ManifestError) {
        defer {
            (duration, byteRange, isDiscontinuous, isGap, programDate) = (nil, nil, false, false, nil)
            parts = []
        }
        guard let duration else {
            // A tag that is written wrongly is one fault.
            if !playlist.miswrittenTags.contains(.segmentDuration) {
                notices.add(.addressWithoutDuration, line: line.number)
            }
            return
        }
        guard playlist.segments.count < limits.segments else {
            throw ManifestError(
                .limitExceeded,
                "the manifest must list at most \(limits.segments) segments",
                line: line.number
            )
        }
        let text = try variables.substitute(String(line.text), line: line.number)
        let url = try references.resolve(text, line: line.number, budget: &addressBudget)
        if isDiscontinuous { discontinuity = discontinuity.saturatingAdd(1) }
        if playlist.segments.isEmpty { playlist.discontinuitySequence = discontinuity }
        let previous = playlist.segments.last
        let sequence = nextSequence
        var segment = MediaSegment(
            sequence: sequence,
            discontinuity: discontinuity,
            start: previous?.end ?? 0,
            duration: duration,
            url: url
        )
        segment.isGap = isGap
        segment.byteRange = range(after: previous, url, line)
        segment.encryption = keys.encryption(sequence: sequence)
        segment.sharedInitialization = map
        segment.bitrate = bitrate
        segment.parts = parts
        if let programDate { anchor(programDate, at: segment.start) }
        segment.wallTime = dateAnchor.map { $0.date.advanced(nanoseconds: segment.start.saturatingSubtract($0.start)) }
        playlist.segments.append(segment)
    }

    /// The number of the next segment.
    var nextSequence: Int64 {
        playlist.segments.last.map { $0.sequence.saturatingAdd(1) }
            ?? playlist.mediaSequence.saturatingAdd(Int64(playlist.skippedCount))
    }

    /// `EXT-X-BYTERANGE`; without an offset it begins at the end of the previous range (RFC 8216 section 4.3.2.2).
    private mutating func range(after previous: MediaSegment?, _ url: HTTPURL, _ line: PlaylistLine) -> ByteRange? {
        guard let byteRange else { return nil }
        if let offset = byteRange.offset { return ByteRange(offset: offset, length: byteRange.length) }
        if let range = previous?.byteRange, previous?.url == url {
            return ByteRange(offset: range.offset.saturatingAdd(range.length ?? 0), length: byteRange.length)
        }
        notices.add(.rangeWithoutStart, line: line.number)
        return ByteRange(offset: 0, length: byteRange.length)
    }

    /// The first date also dates the segments before it.
    private mutating func anchor(_ date: WallTime, at start: Int64) {
        if dateAnchor == nil {
            for index in playlist.segments.indices {
                let earlier = playlist.segments[index].start.saturatingSubtract(start)
                playlist.segments[index].wallTime = date.advanced(nanoseconds: earlier)
            }
        }
        dateAnchor = (start, date)
    }

    private mutating func finish() {
        let longest = playlist.segments.map(\.duration).max() ?? 0
        if !hasTargetDuration {
            if !playlist.miswrittenTags.contains(.targetDuration) { notices.add(.missingTargetDuration) }
            playlist.targetDuration = max(longest, 1_000_000_000)
        }
        // Rounded to the nearest second, a segment must not be longer (RFC 8216 section 4.3.3.1).
        if longest.roundedToSeconds > playlist.targetDuration.roundedToSeconds {
            notices.add(.exceededTargetDuration)
        }
        if let typeLine, playlist.kind == .onDemand, !hasEndTag, !playlist.segments.isEmpty,
            !playlist.miswrittenTags.contains(.endList)
        {
            notices.add(.missingEndList, line: typeLine)
        }
        if playlist.hasEnded { playlist.kind = .onDemand }
        finishOpenSegment()
        finishRenditionReports()
        finishDateRanges()
        noteEncryption()
        playlist.notices = notices.notices
    }

    private mutating func noteEncryption() {
        for segment in playlist.segments {
            switch segment.encryption?.method {
            case .samples(let method): return notices.add(.encryptedSamples, method)
            case .unsupported(let method):
                return notices.add(.unsupportedEncryption, method)
            case .aes128, nil: continue
            }
        }
    }
}
