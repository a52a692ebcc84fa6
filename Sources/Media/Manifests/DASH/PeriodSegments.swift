internal import Instrument
internal import InstrumentHTTP
internal import InstrumentXML

/// Creates the segments of one representation in one period.
struct PeriodSegments {
    let levels: RepresentationLevels
    let period: DASHManifest.Period
    let limits: ManifestLimits
    /// For a live presentation: the calendar time of zero, the current time, and the length of the window.
    let calendar: Calendar?
    let encryption: SegmentEncryption?
    var notices: NoticeList
    var addressBudget: Int
    /// The number of segments that may still be listed individually.
    var listBudget: Int
    /// The times that another representation of the set created from the same timeline, so that they are stored once.
    var sharedRuns: TemplateRow?
    /// The times that this representation created.
    var made: TemplateRow?

    struct Calendar: Hashable, Sendable {
        var origin: WallTime
        var now: WallTime
        var window: Int64?
    }

    mutating func part() throws(ManifestError) -> Rendition.Part {
        switch levels.kind {
        case "SegmentTemplate": try template("SegmentTemplate")
        case "SegmentList": try list()
        default: try base()
        }
    }

    private var references: ReferenceBase { ReferenceBase(url: levels.base) }
    private var line: Int { levels.representation.line }
    private var peakBitrate: Int64? { levels.bandwidth > 0 ? levels.bandwidth : nil }

    private func timescale(_ kind: String) throws(ManifestError) -> Int64 {
        let value = levels.integer(kind, "timescale") ?? 1
        guard value > 0 else { throw ManifestError(.malformed, "a timescale must be above 0 (found 0)", line: line) }
        return value
    }

    // MARK: SegmentTemplate

    private mutating func template(_ kind: String) throws(ManifestError) -> Rendition.Part {
        guard let media = levels.information(kind, "media") else {
            throw ManifestError(.malformed, "a SegmentTemplate must have `media` (found none)", line: line)
        }
        let template = try parsed(media)
        let first = try references.resolve(template.text(number: 0, time: 0), line: line, budget: &addressBudget)
        var row = TemplateRow(
            template: template,
            timescale: try timescale(kind),
            timeOffset: levels.integer(kind, "presentationTimeOffset") ?? 0,
            periodStart: period.start,
            periodEnd: period.end,
            pattern: MediaSegment(sequence: 0, discontinuity: period.number, start: 0, duration: 0, url: first)
        )
        row.pattern.initialization = try initialization(kind)
        row.pattern.encryption = encryption
        row.pattern.peakBitrate = peakBitrate
        takeAvailability(kind, &row)
        if let shared = sharedRuns {
            row.share(shared)
        } else {
            var runs = TimelineRuns(levels, kind, period, row, calendar, limits)
            try runs.fill(&row, &notices)
            addressBudget -= max(row.runs.count, runs.entryCount) * MemoryLayout<TemplateRow.Run>.size
            guard addressBudget >= 0 else {
                throw ManifestError(
                    .limitExceeded,
                    "the timelines of the MPD exceed the limit of their total length",
                    line: line
                )
            }
        }
        made = row
        row.sequence = row.runs.first?.number ?? 0
        let target = row.longestTicks.nanoseconds(timescale: row.timescale)
        return .segments(SegmentIndex(rows: [.template(row)], isComplete: calendar == nil, targetDuration: target))
    }

    private mutating func parsed(_ text: String) throws(ManifestError) -> SegmentTemplate {
        // A template that many representations inherit is read for each representation.
        addressBudget -= text.utf8.count
        do throws(SegmentTemplate.Fault) {
            return try SegmentTemplate(
                text,
                base: levels.base,
                representation: levels.id,
                bandwidth: levels.bandwidth,
                limit: limits.lineBytes
            )
        } catch {
            if case .tooLong = error {
                let message = "a template of addresses makes more than \(limits.lineBytes) bytes"
                throw ManifestError(.limitExceeded, message, line: line)
            }
            let code: ManifestError.Code = error == .unknownIdentifier("SubNumber") ? .unsupported : .malformed
            throw ManifestError(code, "a template of addresses cannot be read: \(error.reason)", line: line)
        }
    }

    private mutating func initialization(_ kind: String) throws(ManifestError) -> InitializationSegment? {
        if let text = levels.information(kind, "initialization") {
            let reference = try parsed(text).text(number: 0, time: 0)
            return InitializationSegment(url: try references.resolve(reference, line: line, budget: &addressBudget))
        }
        guard let element = levels.child(kind, "Initialization") else { return nil }
        let url = try references.resolve(element["sourceURL"] ?? "", line: line, budget: &addressBudget)
        return InitializationSegment(url: url, byteRange: element.byteRange("range"))
    }

    private func takeAvailability(_ kind: String, _ row: inout TemplateRow) {
        row.calendarOrigin = calendar?.origin
        row.listedAt = calendar.map { $0.now.nanoseconds(since: $0.origin) }
        let availability = levels.availability(kind)
        row.availabilityOffset = availability.offset
        row.isAvailableInChunks = availability.isComplete == false
    }

    // MARK: SegmentList

    private mutating func list() throws(ManifestError) -> Rendition.Part {
        let kind = "SegmentList"
        let elements = levels.children(kind, "SegmentURL")
        guard elements.count <= limits.segments else {
            throw ManifestError(
                .limitExceeded,
                "the manifest must list at most \(limits.segments) segments",
                line: line
            )
        }
        let whole = SegmentTemplate(base: levels.base, parts: [])
        var row = TemplateRow(
            template: whole,
            timescale: try timescale(kind),
            timeOffset: levels.integer(kind, "presentationTimeOffset") ?? 0,
            periodStart: period.start,
            periodEnd: period.end,
            pattern: MediaSegment(sequence: 0, discontinuity: period.number, start: 0, duration: 0, url: levels.base)
        )
        row.pattern.initialization = try initialization(kind)
        row.pattern.encryption = encryption
        row.pattern.peakBitrate = peakBitrate
        takeAvailability(kind, &row)
        var runs = TimelineRuns(levels, kind, period, row, nil, limits)
        runs.available = elements.count
        try runs.fill(&row, &notices)
        let most = min(row.count, limits.segments)
        listBudget -= max(most, runs.entryCount)
        guard listBudget >= 0 else {
            let message = "representations list more than \(limits.listedSegments) segments altogether"
            throw ManifestError(.limitExceeded, message, line: line)
        }
        var segments: [MediaSegment] = []
        let firstNumber = levels.integer(kind, "startNumber") ?? 1
        for position in 0..<row.count {
            guard segments.count < most else {
                throw ManifestError(
                    .limitExceeded,
                    "the manifest must list at most \(limits.segments) segments",
                    line: line
                )
            }
            var segment = row.segment(at: position)
            if !segment.isGap {
                let place = row.number(at: position).saturatingSubtract(firstNumber)
                guard let index = Int(exactly: place), elements.indices.contains(index) else { break }
                let element = elements[index]
                segment.url = try references.resolve(element["media"] ?? "", line: element.line, budget: &addressBudget)
                segment.byteRange = element.byteRange("mediaRange")
            }
            segments.append(segment)
        }
        let target = segments.filter { !$0.isGap }.map(\.duration).max() ?? 0
        return .segments(SegmentIndex(segments, isComplete: calendar == nil, targetDuration: target))
    }

    // MARK: SegmentBase, or a file alone

    private mutating func base() throws(ManifestError) -> Rendition.Part {
        let kind = "SegmentBase"
        let declared = levels.information(kind, "indexRange").flatMap { text in
            MarkupElement(name: "", attributes: ["range": text], line: line).byteRange("range")
        }
        guard levels.kind == kind, declared != nil || levels.container == .fragmentedMP4 else { return single() }
        guard levels.container != .webM else {
            throw ManifestError(.unsupported, "the probe reads no index of a WebM file", line: line)
        }
        let scale = try timescale(kind)
        // Players read the start of a file that does not declare the position of its index.
        let range = ByteRange(offset: declared?.offset ?? 0, length: declared?.length ?? FileIndex.usualLength)
        var file = IndexedSegments(
            url: levels.base,
            indexRange: range,
            initialization: try initialization(kind) ?? section(before: range),
            frame: frame(
                timeOffset: (levels.integer(kind, "presentationTimeOffset") ?? 0).nanoseconds(timescale: scale)
            )
        )
        file.declaresIndexRange = declared?.length != nil
        // The whole file is no initialization section.
        if file.initialization == InitializationSegment(url: levels.base) {
            file.initialization = section(before: range)
        }
        return .index(file)
    }

    private func section(before range: ByteRange) -> InitializationSegment? {
        guard range.offset > 0 else { return nil }
        return InitializationSegment(url: levels.base, byteRange: ByteRange(offset: 0, length: range.offset))
    }

    private func frame(timeOffset: Int64) -> IndexFrame {
        IndexFrame(
            sequence: 0,
            discontinuity: period.number,
            periodStart: period.start,
            periodEnd: period.end,
            timeOffset: timeOffset,
            encryption: encryption,
            peakBitrate: peakBitrate,
            calendarOrigin: calendar?.origin,
            listedAt: calendar.map { $0.now.nanoseconds(since: $0.origin) },
            availabilityOffset: levels.availability("SegmentBase").offset
        )
    }

    /// A file that is one segment, such as subtitles.
    private func single() -> Rendition.Part {
        let end = period.end ?? period.start
        var segment = MediaSegment(
            sequence: 0,
            discontinuity: period.number,
            start: period.start,
            duration: max(0, end.saturatingSubtract(period.start)),
            url: levels.base
        )
        segment.encryption = encryption
        segment.peakBitrate = peakBitrate
        (segment.mediaTime, segment.mediaOffset) = (0, period.start)
        return .segments(SegmentIndex([segment], isComplete: calendar == nil, targetDuration: segment.duration))
    }
}
