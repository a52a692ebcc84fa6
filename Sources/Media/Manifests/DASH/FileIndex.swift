internal import Instrument
internal import InstrumentHTTP

/// The index of a file, which is read in as many requests as it needs: one for a `sidx` box at a declared position,
/// more for a box whose position is unknown, and for boxes that refer to further boxes.
/// A value without network. The numbers of requests, boxes and references have limits.
package struct FileIndex: Hashable, Sendable {
    /// The most bytes that are requested of a place where a box of unknown size is expected.
    static let usualLength: Int64 = 65_536
    /// The most requests for one index, and the most boxes in it.
    private static let mostRequests = 100
    private static let mostBoxes = 1_000

    /// A part of the file.
    struct Part: Hashable, Sendable {
        /// The times of the media, in nanoseconds.
        var start: Int64
        var end: Int64
        var offset: Int64
        var size: Int64
    }

    /// A `sidx` box that is not read yet.
    private struct Pending: Hashable {
        var range: ByteRange
        /// Whether the place and the size of the box are only assumed, so that more bytes may be needed.
        var mayGrow: Bool
    }

    private enum Entry: Hashable {
        case media(Part)
        case index(Pending)

        var pending: Pending? { if case .index(let pending) = self { pending } else { nil } }
    }

    /// The bytes of one answer, and their place in the file.
    private struct Page {
        var bytes: [UInt8]
        var offset: Int64

        /// The bytes from a place on; nil for a place outside.
        func bytes(from place: Int64) -> ArraySlice<UInt8>? {
            let distance = place.saturatingSubtract(offset)
            guard distance >= 0, distance < bytes.count else { return nil }
            return bytes[Int(distance)...]
        }
    }

    /// The bytes to fetch next and to pass to ``take(_:)``; nil once the index is complete.
    package private(set) var nextRange: ByteRange?
    private var entries: [Entry]
    private var requestCount = 0
    private var boxCount = 0
    private var referenceCount = 0
    private let limits: ManifestLimits
    /// The offset of the first box: what precedes it is the initialization section.
    private(set) var start: Int64?
    /// The duration of the longest part, in nanoseconds.
    private(set) var longestDuration: Int64 = 0

    /// Creates the index of a file, of which nothing is read.
    package init(of file: IndexedSegments, limits: ManifestLimits = ManifestLimits()) {
        self.limits = limits
        entries = [.index(Pending(range: file.indexRange, mayGrow: !file.declaresIndexRange))]
        nextRange = file.indexRange
    }

    /// The parts of the file in order, as far as they are known.
    var parts: [Part] { entries.compactMap { if case .media(let part) = $0 { part } else { nil } } }

    /// Takes the bytes of ``nextRange``, or fewer if the file ends before.
    /// - Throws: ``ManifestError`` if the index is missing, truncated or malformed, or exceeds a limit.
    package mutating func take(_ bytes: [UInt8]) throws(ManifestError) {
        guard let place = entries.firstIndex(where: { $0.pending != nil }), let pending = entries[place].pending else {
            return
        }
        requestCount += 1
        guard requestCount <= Self.mostRequests else {
            throw ManifestError(.limitExceeded, "the index of a file needs more than \(Self.mostRequests) requests")
        }
        let page = Page(bytes: bytes, offset: pending.range.offset)
        entries.replaceSubrange(place...place, with: try read(pending, page))
        nextRange = entries[place...].lazy.compactMap(\.pending).first?.range
    }

    private mutating func read(_ pending: Pending, _ page: Page) throws(ManifestError) -> [Entry] {
        let offset = pending.range.offset
        switch try SegmentIndexBox.search(page.bytes[...], limits: limits) {
        case .found(let box): return try entries(of: box, at: offset, page)
        case .cut(let start, let length?) where pending.mayGrow:
            let range = ByteRange(offset: offset.saturatingAdd(Int64(start)), length: length)
            guard length <= longestBox else { throw tooManyReferences }
            return [.index(Pending(range: range, mayGrow: false))]
        case .beyond(let distance) where pending.mayGrow && distance > 0 && !page.bytes.isEmpty:
            let range = ByteRange(offset: offset.saturatingAdd(distance), length: Self.usualLength)
            return [.index(Pending(range: range, mayGrow: true))]
        case .cut:
            throw ManifestError(.malformed, "an index (`sidx`) that the index range cuts")
        case .beyond, .absent:
            throw ManifestError(.malformed, "no index (`sidx`) in the index range")
        }
    }

    /// The references of a box that was found in bytes that begin at `offset`. Boxes in the same bytes are read at
    /// once.
    private mutating func entries(
        of box: SegmentIndexBox,
        at offset: Int64,
        _ page: Page
    ) throws(ManifestError) -> [Entry] {
        boxCount += 1
        referenceCount += box.references.count
        guard boxCount <= Self.mostBoxes, referenceCount <= limits.indexReferences else { throw tooManyReferences }
        start = start ?? offset.saturatingAdd(box.start)
        var entries: [Entry] = []
        var (ticks, place) = (box.earliestTime, offset.saturatingAdd(box.end).saturatingAdd(box.firstOffset))
        for reference in box.references {
            let next = ticks.saturatingAdd(reference.ticks)
            if reference.isIndex {
                entries += try nested(reference, at: place, page)
            } else {
                longestDuration = max(longestDuration, reference.ticks.nanoseconds(timescale: box.timescale))
                let times = [ticks, next].map { $0.nanoseconds(timescale: box.timescale) }
                entries.append(.media(Part(start: times[0], end: times[1], offset: place, size: reference.size)))
            }
            (ticks, place) = (next, place.saturatingAdd(reference.size))
        }
        return entries
    }

    private mutating func nested(
        _ reference: SegmentIndexBox.Reference,
        at place: Int64,
        _ page: Page
    ) throws(ManifestError) -> [Entry] {
        guard reference.size > 0 else {
            throw ManifestError(.malformed, "an index (`sidx`) that refers to an index of 0 bytes")
        }
        if let bytes = page.bytes(from: place),
            case .found(let box) = try SegmentIndexBox.search(bytes, limits: limits)
        {
            return try entries(of: box, at: place, page)
        }
        // The size of the reference contains the media that the box describes.
        let range = ByteRange(offset: place, length: min(reference.size, Self.usualLength))
        return [.index(Pending(range: range, mayGrow: true))]
    }

    /// More than the size of a box with the most references.
    private var longestBox: Int64 { Int64(clamping: limits.indexReferences).saturatingMultiply(12).saturatingAdd(64) }

    private var tooManyReferences: ManifestError {
        ManifestError(
            .limitExceeded,
            "the index of a file must have at most \(limits.indexReferences) references in \(Self.mostBoxes) boxes"
        )
    }
}
