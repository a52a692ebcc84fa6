internal import Instrument
internal import InstrumentHTTP

/// A `sidx` box (ISO/IEC 14496-12 section 8.16.3): the duration and size of each part of a file.
struct SegmentIndexBox: Hashable, Sendable {
    struct Reference: Hashable, Sendable {
        var size: Int64
        var ticks: Int64
        /// Whether the reference is to another `sidx` box, and not to media.
        var isIndex: Bool
    }

    /// The result of a search for the first `sidx` box. Offsets are from the start of the bytes.
    enum Search: Hashable, Sendable {
        case found(SegmentIndexBox)
        /// The box is truncated; its extent, as far as its header declares it.
        case cut(start: Int, length: Int64?)
        /// The next box, which may be a `sidx` box, begins behind the bytes.
        case beyond(Int64)
        /// Media begins before any `sidx` box, or the bytes are no boxes.
        case absent
    }

    var timescale: Int64
    var earliestTime: Int64
    /// Bytes from the end of the box to the first part.
    var firstOffset: Int64
    /// Bytes from the start of the parsed bytes to the start and the end of the box.
    var start: Int64
    var end: Int64
    var references: [Reference]

    /// Finds the first `sidx` among the boxes and reads it.
    static func search(_ bytes: ArraySlice<UInt8>, limits: ManifestLimits) throws(ManifestError) -> Search {
        var reader = ByteReader(bytes)
        while true {
            let start = reader.position
            guard let size = reader.read(4), let type = reader.read(4) else { return .beyond(Int64(start)) }
            let length: UInt64? = size == 1 ? reader.read(8) : size
            guard let length else { return .beyond(Int64(start)) }
            let header: UInt64 = size == 1 ? 16 : 8
            guard size == 0 || length >= header else { return .absent }
            let body = size == 0 ? UInt64(reader.remaining) : length - header
            if type == BoxType.sidx {
                guard body <= UInt64(reader.remaining) else {
                    return .cut(start: start, length: Int64(clamping: length))
                }
                let box = try Self(&reader, from: start, body: Int(body), limits)
                return box.map(Search.found) ?? .cut(start: start, length: nil)
            }
            guard size != 0, type != BoxType.moof, type != BoxType.mdat else { return .absent }
            guard body <= UInt64(reader.remaining) else {
                return .beyond(Int64(start).saturatingAdd(Int64(clamping: length)))
            }
            reader.skip(Int(body))
        }
    }

    /// Returns nil if the body is shorter than its fields.
    private init?(_ reader: inout ByteReader, from start: Int, body: Int, _ limits: ManifestLimits)
        throws(ManifestError)
    {
        let boxEnd = reader.position + body
        guard let version = reader.read(1), reader.read(3) != nil, reader.read(4) != nil, let scale = reader.read(4),
            let earliest = reader.read(version == 0 ? 4 : 8), let first = reader.read(version == 0 ? 4 : 8),
            reader.read(2) != nil, let count = reader.read(2), reader.position <= boxEnd
        else { return nil }
        guard scale > 0 else {
            throw ManifestError(.malformed, "an index (`sidx`) with a time scale of 0")
        }
        guard Int(clamping: count) * 12 <= boxEnd - reader.position else { return nil }
        guard count <= UInt64(clamping: limits.indexReferences) else {
            throw ManifestError(.limitExceeded, "the sidx box must have at most \(limits.indexReferences) references")
        }
        (timescale, earliestTime, firstOffset) = (
            Int64(clamping: scale), Int64(clamping: earliest), Int64(clamping: first)
        )
        (self.start, end) = (Int64(clamping: start), Int64(clamping: boxEnd))
        references = []
        for _ in 0..<count {
            guard let size = reader.read(4), let ticks = reader.read(4), reader.read(4) != nil else { return nil }
            let reference = Reference(
                size: Int64(clamping: size & 0x7FFF_FFFF),
                ticks: Int64(clamping: ticks),
                isIndex: size >> 31 == 1
            )
            references.append(reference)
        }
    }

    private enum BoxType {
        static let sidx: UInt64 = 0x7369_6478
        static let moof: UInt64 = 0x6D6F_6F66
        static let mdat: UInt64 = 0x6D64_6174
    }
}

/// Reads big-endian integers and never past the end.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var position = 0

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func read(_ count: Int) -> UInt64? {
        guard count <= remaining, count <= 8 else { return nil }
        defer { position += count }
        let first = bytes.startIndex + position
        return bytes[first..<first + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func skip(_ count: Int) { position += min(max(count, 0), remaining) }
}
