internal import Instrument
package import InstrumentHTTP

/// One file with an index inside (DASH `SegmentBase`, the on-demand profile): the location of its `sidx` box.
package struct IndexedSegments: Hashable, Sendable {
    /// The file.
    package var url: HTTPURL
    /// The byte range of the index. Without `@indexRange`, the part of the file's start that players usually read.
    package var indexRange: ByteRange
    /// The initialization section; nil if it is what precedes the index.
    package var initialization: InitializationSegment?
    /// Whether the MPD has `@indexRange`; otherwise the index may be longer than ``indexRange``, or behind it.
    var declaresIndexRange = true
    /// The properties of all segments: number of the first, discontinuity, and the period's position on the timeline.
    var frame: IndexFrame

    /// What identifies an index, also after a reload of the MPD in which the period has an end.
    package struct Place: Hashable, Sendable {
        var url: HTTPURL
        var range: ByteRange
    }

    package var place: Place { Place(url: url, range: indexRange) }

    /// The start of the period, in nanoseconds.
    package var periodStart: Int64 { frame.periodStart }

    /// Whether the period begins later than the MPD was read (live).
    var beginsLater: Bool { frame.listedAt.map { $0 < frame.periodStart } ?? false }

    /// Returns the segments that the index lists.
    /// - Parameters:
    ///   - bytes: the bytes of ``indexRange``.
    ///   - limits: the limit of references.
    /// - Throws: ``ManifestError`` without a complete `sidx`, or if it refers to other indexes behind `bytes`, which a
    ///   ``FileIndex`` reads.
    package func segments(
        from bytes: [UInt8],
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) -> SegmentIndex {
        var index = FileIndex(of: self, limits: limits)
        try index.take(bytes)
        guard index.nextRange == nil else {
            throw ManifestError(.unsupported, "the index continues behind these bytes; read it with a `FileIndex`")
        }
        return segments(of: index)
    }

    /// Returns the segments of a complete index, cut to the period.
    package func segments(of index: FileIndex) -> SegmentIndex {
        var (segments, next) = ([MediaSegment](), frame.sequence)
        let shared = (section(before: index.start).map(Shared.init), frame.encryption.map(Shared.init))
        for part in index.parts {
            guard var segment = segment(part, next) else { continue }
            (segment.sharedInitialization, segment.sharedEncryption) = shared
            segments.append(segment)
            next = next.saturatingAdd(1)
        }
        return SegmentIndex(segments, isComplete: true, targetDuration: index.longestDuration)
    }

    /// The initialization section: without a declaration, what precedes the index.
    private func section(before start: Int64?) -> InitializationSegment? {
        if let initialization { return initialization }
        guard let start, start > 0 else { return nil }
        return InitializationSegment(url: url, byteRange: ByteRange(offset: 0, length: start))
    }

    /// Returns nil for a part outside the period.
    private func segment(_ part: FileIndex.Part, _ sequence: Int64) -> MediaSegment? {
        let anchor = frame.periodStart.saturatingSubtract(frame.timeOffset)
        let (mediaStart, mediaEnd) = (anchor.saturatingAdd(part.start), anchor.saturatingAdd(part.end))
        let start = max(mediaStart, frame.periodStart)
        let end = min(mediaEnd, frame.periodEnd ?? .max)
        guard end > frame.periodStart, start < frame.periodEnd ?? .max else { return nil }
        var segment = MediaSegment(
            sequence: sequence,
            discontinuity: frame.discontinuity,
            start: start,
            duration: max(0, end.saturatingSubtract(start)),
            url: url
        )
        segment.byteRange = ByteRange(offset: part.offset, length: part.size)
        segment.trimmedStart = start.saturatingSubtract(mediaStart)
        segment.trimmedEnd = mediaEnd.saturatingSubtract(end)
        segment.mediaOffset = anchor
        segment.mediaTime = part.start.saturatingAdd(segment.trimmedStart)
        segment.bitrate = part.size.saturatingMultiply(8).scaled(by: 1_000_000_000, over: segment.mediaDuration)
        segment.peakBitrate = frame.peakBitrate
        segment.wallTime = frame.calendarOrigin?.advanced(nanoseconds: start)
        segment.availability = frame.availability(ofMediaUntil: end)
        return segment
    }
}

/// The position of the segments of a file with an index on the presentation timeline.
struct IndexFrame: Hashable, Sendable {
    var sequence: Int64 = 0
    var discontinuity: Int64 = 0
    /// The period's start and end, in nanoseconds.
    var periodStart: Int64 = 0
    var periodEnd: Int64?
    /// `@presentationTimeOffset` in nanoseconds.
    var timeOffset: Int64 = 0
    var encryption: SegmentEncryption?
    /// `@bandwidth` of the representation; nil if not declared.
    var peakBitrate: Int64?
    /// The calendar time of the presentation timeline's zero, for a live presentation.
    var calendarOrigin: WallTime?
    /// The position of the media that happened when the MPD was read, for a live presentation.
    var listedAt: Int64?
    /// The time by which media is available before its end, in nanoseconds; nil for always.
    var availabilityOffset: Int64? = 0

    /// In a live presentation, media is available from its end on (ISO/IEC 23009-1 section 5.3.9.5.3).
    func availability(ofMediaUntil end: Int64) -> WallTime? {
        guard let calendarOrigin, let availabilityOffset else { return nil }
        // Rounded up, so that no request is too early.
        return calendarOrigin.advanced(nanoseconds: end.saturatingSubtract(availabilityOffset).saturatingAdd(999_999))
    }
}
