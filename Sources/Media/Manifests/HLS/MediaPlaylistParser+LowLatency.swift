internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

// The tags of low-latency playlists (rfc8216bis).
extension MediaPlaylistParser {
    mutating func readServerControl(_ line: PlaylistLine) throws(ManifestError) {
        let attributes = try attributes(line)
        func time(_ name: String) -> Int64? { attributes.nanoseconds(name).flatMap { $0 > 0 ? $0 : nil } }
        playlist.control.holdBack = time("HOLD-BACK")
        playlist.control.partHoldBack = time("PART-HOLD-BACK")
        playlist.control.canSkipUntil = time("CAN-SKIP-UNTIL")
        playlist.control.canBlockReload = attributes.isYes("CAN-BLOCK-RELOAD")
    }

    mutating func readPartInformation(_ line: PlaylistLine) throws(ManifestError) {
        guard let target = try attributes(line).nanoseconds("PART-TARGET"), target > 0 else {
            notices.add(.incompletePartInformation, "`\(line.value.excerpt())`", line: line.number)
            return
        }
        playlist.control.partTarget = target
    }

    mutating func readPart(_ line: PlaylistLine) throws(ManifestError) {
        let attributes = try attributes(line)
        guard let reference = attributes["URI"], let duration = attributes.nanoseconds("DURATION"), duration >= 0 else {
            let duration = attributes["DURATION"].map { "`DURATION=\($0.excerpt())`" }
            notices.add(.incompletePart, attributes["URI"] == nil ? nil : duration, line: line.number)
            return
        }
        partCount += 1
        guard partCount <= limits.segments else {
            throw ManifestError(
                .limitExceeded,
                "the manifest must list at most \(limits.segments) parts",
                line: line.number
            )
        }
        let url = try references.resolve(reference, line: line.number, budget: &addressBudget)
        parts.append(
            PartialSegment(
                url: url,
                byteRange: try partRange(attributes, url, line),
                offset: parts.last.map { $0.offset.saturatingAdd($0.duration) } ?? 0,
                duration: duration,
                isIndependent: attributes.isYes("INDEPENDENT"),
                isGap: attributes.isYes("GAP")
            )
        )
    }

    /// `BYTERANGE`; without an offset it begins at the end of the previous part of the same file.
    private mutating func partRange(
        _ attributes: AttributeList,
        _ url: HTTPURL,
        _ line: PlaylistLine
    ) throws(ManifestError) -> ByteRange? {
        guard let text = attributes["BYTERANGE"] else { return nil }
        guard let (length, offset) = Self.byteRange(text[...]) else {
            throw unreadable(
                "BYTERANGE of `EXT-X-PART` must be LENGTH or LENGTH@OFFSET, with a LENGTH above 0",
                found: text,
                line
            )
        }
        if let offset { return ByteRange(offset: offset, length: length) }
        let previous = parts.last ?? playlist.segments.last?.parts.last
        guard let previous, previous.url == url, let range = previous.byteRange else {
            return ByteRange(offset: 0, length: length)
        }
        return ByteRange(offset: range.offset.saturatingAdd(range.length ?? 0), length: length)
    }

    mutating func readPreloadHint(_ line: PlaylistLine) throws(ManifestError) {
        let attributes = try attributes(line)
        let target: WritableKeyPath<HLSMediaPlaylist, PreloadHint?>
        switch attributes["TYPE"] {
        case "PART": target = \.preloadHint
        case "MAP": target = \.initializationHint
        default: return  // A later version may have more types.
        }
        guard playlist[keyPath: target] == nil else {
            return notices.add(.repeatedHint, line: line.number)
        }
        guard let reference = attributes["URI"], let byteRange = Self.hintedRange(attributes) else {
            return notices.add(.invalidHint, line: line.number)
        }
        guard let url = try optionalAddress(reference, line) else { return }
        playlist[keyPath: target] = PreloadHint(url: url, byteRange: byteRange)
    }

    /// The range of a hint, which is nil for the whole resource; nil if the attributes are no range.
    private static func hintedRange(_ attributes: AttributeList) -> ByteRange?? {
        let (first, size) = (attributes["BYTERANGE-START"], attributes["BYTERANGE-LENGTH"])
        if first == nil, size == nil { return .some(nil) }
        guard let start = DecimalText.integer(first ?? "0"), start < .max else { return nil }
        guard let size else { return ByteRange(offset: start, length: nil) }
        guard let length = DecimalText.integer(size), length > 0, !start.addingReportingOverflow(length).overflow else {
            return nil
        }
        return ByteRange(offset: start, length: length)
    }

    /// The address of a tag without which the playlist can be played; nil, with a notice, if it is refused.
    private mutating func optionalAddress(_ reference: String, _ line: PlaylistLine) throws(ManifestError) -> HTTPURL? {
        do throws(ManifestError) {
            return try references.resolve(reference, line: line.number, budget: &addressBudget)
        } catch {
            guard error.code == .referenceRefused else { throw error }
            notices.add(.referenceRefused, error.message, line: line.number)
            return nil
        }
    }

    mutating func readRenditionReport(_ line: PlaylistLine) throws(ManifestError) {
        let attributes = try attributes(line)
        guard let reference = attributes["URI"], reports.count < limits.segments,
            let url = try optionalAddress(reference, line)
        else { return }
        let part = attributes.integer("LAST-PART").flatMap { Int(exactly: $0) }
        reports.append((url, attributes.integer("LAST-MSN"), part))
    }

    /// A report leaves out what is the same in this playlist (rfc8216bis section 4.4.5.4).
    mutating func finishRenditionReports() {
        let open = playlist.openSegment.flatMap { $0.parts.isEmpty ? nil : $0 }
        let last = open ?? playlist.segments.last
        let count = playlist.control.partTarget == nil ? 0 : last?.parts.count ?? 0
        let part = count > 0 ? count - 1 : nil
        playlist.renditionReports = reports.compactMap { report in
            (report.sequence ?? last?.sequence).map {
                RenditionReport(url: report.url, lastSequence: $0, lastPart: report.part ?? part)
            }
        }
    }

    /// `EXT-X-SKIP` stands in the place of the segments that the server left out.
    mutating func readSkip(_ line: PlaylistLine) throws(ManifestError) {
        guard let count = try attributes(line).integer("SKIPPED-SEGMENTS"), count > 0,
            count <= Int64(limits.segments), playlist.segments.isEmpty
        else {
            throw ManifestError(
                .malformed,
                "`EXT-X-SKIP` must come before the segments and have SKIPPED-SEGMENTS from 1 to \(limits.segments)",
                line: line.number
            )
        }
        playlist.skippedCount = Int(count)
    }

    /// The segment that the server is producing, of which the playlist has parts or a hint.
    mutating func finishOpenSegment() {
        if playlist.hasEnded { (playlist.preloadHint, playlist.initializationHint) = (nil, nil) }
        guard !playlist.hasEnded, playlist.control.partTarget != nil,
            let url = parts.first?.url ?? playlist.preloadHint?.url
        else { return }
        let previous = playlist.segments.last
        var segment = MediaSegment(
            sequence: nextSequence,
            discontinuity: isDiscontinuous ? discontinuity.saturatingAdd(1) : discontinuity,
            start: previous?.end ?? 0,
            duration: parts.last.map { $0.offset.saturatingAdd($0.duration) } ?? 0,
            url: url
        )
        segment.parts = parts
        segment.encryption = keys.encryption(sequence: segment.sequence)
        segment.sharedInitialization = map
        segment.wallTime =
            programDate
            ?? dateAnchor.map { $0.date.advanced(nanoseconds: segment.start.saturatingSubtract($0.start)) }
        playlist.openSegment = segment
    }
}
