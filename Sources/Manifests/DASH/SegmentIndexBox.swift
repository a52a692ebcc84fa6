internal import Instrument
internal import InstrumentHTTP

/// A `sidx` box (ISO/IEC 14496-12 section 8.16.3): the duration and size of each part of a file.
struct SegmentIndexBox: Hashable, Sendable {
    struct Reference: Hashable, Sendable {
        var size: Int64
        var ticks: Int64
    }

    var timescale: Int64
    var earliestTime: Int64
    /// Bytes from the end of the box to the first part.
    var firstOffset: Int64
    /// Bytes from the start of the parsed bytes to the end of the box.
    var end: Int64
    var references: [Reference]

    var longestDuration: Int64 { (references.map(\.ticks).max() ?? 0).nanoseconds(timescale: timescale) }

    /// Finds the first `sidx` among the boxes and reads it.
    init(parsing bytes: [UInt8], limits: ManifestLimits) throws(ManifestError) {
        var reader = ByteReader(bytes)
        while let size = reader.read(4), let type = reader.read(4) {
            let length: UInt64? = size == 1 ? reader.read(8) : size
            let header: UInt64 = size == 1 ? 16 : 8
            guard let length, size == 0 || length >= header else { break }
            let body = size == 0 ? UInt64(reader.remaining) : length - header
            if type == 0x7369_6478 {  // "sidx"
                guard body <= UInt64(reader.remaining) else { throw Self.cut }
                self = try Self(&reader, body: Int(body), limits)
                return
            }
            guard body <= UInt64(reader.remaining) else { break }
            reader.skip(Int(body))
        }
        throw ManifestError(.malformed, "expected a sidx box in the index range of the MPD, found none")
    }

    private init(_ reader: inout ByteReader, body: Int, _ limits: ManifestLimits) throws(ManifestError) {
        let boxEnd = reader.position + body
        guard let version = reader.read(1), reader.read(3) != nil, reader.read(4) != nil, let scale = reader.read(4),
            let earliest = reader.read(version == 0 ? 4 : 8), let first = reader.read(version == 0 ? 4 : 8),
            reader.read(2) != nil, let count = reader.read(2), reader.position <= boxEnd
        else { throw Self.cut }
        guard scale > 0 else {
            throw ManifestError(.malformed, "the timescale of the sidx box must be above 0 (found 0)")
        }
        guard Int(clamping: count) * 12 <= boxEnd - reader.position else { throw Self.cut }
        guard count <= UInt64(clamping: limits.indexReferences) else {
            throw ManifestError(.limitExceeded, "the sidx box must have at most \(limits.indexReferences) references")
        }
        (timescale, earliestTime, firstOffset) = (
            Int64(clamping: scale), Int64(clamping: earliest), Int64(clamping: first)
        )
        end = Int64(clamping: boxEnd)
        references = []
        for _ in 0..<count {
            guard let size = reader.read(4), let ticks = reader.read(4), reader.read(4) != nil else { throw Self.cut }
            guard size >> 31 == 0 else {
                throw ManifestError(
                    .unsupported,
                    "the sidx box refers to further indexes, which the probe does not support"
                )
            }
            references.append(Reference(size: Int64(clamping: size), ticks: Int64(clamping: ticks)))
        }
    }

    private static let cut = ManifestError(.malformed, "the sidx box is truncated; fetch the whole index range")

    func segments(of file: IndexedSegments) -> [MediaSegment] {
        let frame = file.frame
        let anchor = frame.periodStart.saturatingSubtract(frame.timeOffset)
        var (ticks, offset) = (earliestTime, file.indexRange.offset.saturatingAdd(end).saturatingAdd(firstOffset))
        let (initialization, encryption) = (file.initialization.map(Shared.init), frame.encryption.map(Shared.init))
        var segments: [MediaSegment] = []
        for reference in references {
            let media = ticks.nanoseconds(timescale: timescale)
            let mediaStart = anchor.saturatingAdd(media)
            let start = max(mediaStart, frame.periodStart)
            ticks = ticks.saturatingAdd(reference.ticks)
            let mediaEnd = anchor.saturatingAdd(ticks.nanoseconds(timescale: timescale))
            let end = min(mediaEnd, frame.periodEnd ?? .max)
            let range = ByteRange(offset: offset, length: reference.size)
            offset = offset.saturatingAdd(reference.size)
            guard end > frame.periodStart, start < frame.periodEnd ?? .max else { continue }
            let sequence = frame.sequence.saturatingAdd(Int64(segments.count))
            var segment = MediaSegment(
                sequence: sequence,
                discontinuity: frame.discontinuity,
                start: start,
                duration: max(0, end.saturatingSubtract(start)),
                url: file.url
            )
            segment.byteRange = range
            segment.sharedInitialization = initialization
            segment.sharedEncryption = encryption
            segment.trimmedStart = start.saturatingSubtract(mediaStart)
            segment.trimmedEnd = mediaEnd.saturatingSubtract(end)
            segment.mediaOffset = anchor
            segment.mediaTime = media.saturatingAdd(segment.trimmedStart)
            segment.bitrate = reference.size.saturatingMultiply(8).scaled(
                by: 1_000_000_000,
                over: segment.mediaDuration
            )
            segments.append(segment)
        }
        return segments
    }
}

/// Reads big-endian integers and never past the end.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func read(_ count: Int) -> UInt64? {
        guard count <= remaining, count <= 8 else { return nil }
        defer { position += count }
        return bytes[position..<position + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func skip(_ count: Int) { position += min(max(count, 0), remaining) }
}
