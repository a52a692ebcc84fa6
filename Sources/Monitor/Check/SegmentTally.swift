internal import InstrumentManifests

/// Counts the segments that were fetched, and those that were read: each once, however often it is fetched.
///
/// A segment is fetched again to compare its bytes, and renditions may share it. Memory is bounded.
struct SegmentTally: Sendable {
    /// The number of segments that are remembered, the latest ones.
    private static let mostKept = 1_024

    /// The number of segments that were fetched.
    private(set) var count = 0
    /// The number of segments that were read.
    private(set) var readCount = 0
    /// Whether the segments that are remembered were read, by their hash.
    private var known: [Int: Bool] = [:]
    /// The hashes in the order of the segments; the place of the oldest, once all places are taken.
    private var (hashes, oldest): ([Int], Int) = ([], 0)

    mutating func take(_ result: FetchedSegment) {
        let segment = result.order.segment
        take(segment, isRead: result.isRead, isRepeated: result.order.purpose == .comparison)
    }

    /// - Parameter isRepeated: whether the segment was asked for before.
    mutating func take(_ segment: MediaSegment, isRead: Bool, isRepeated: Bool) {
        var hasher = Hasher()
        hasher.combine(segment.url)
        hasher.combine(segment.byteRange)
        hasher.combine(segment.sequence)
        let hash = hasher.finalize()
        if let wasRead = known[hash] {
            if isRead, !wasRead { (known[hash], readCount) = (true, readCount + 1) }
            return
        }
        // It was counted so long ago that it is forgotten.
        if isRepeated, hashes.count == Self.mostKept { return }
        (count, readCount) = (count + 1, readCount + (isRead ? 1 : 0))
        known[hash] = isRead
        guard hashes.count == Self.mostKept else { return hashes.append(hash) }
        known[hashes[oldest]] = nil
        hashes[oldest] = hash
        oldest = (oldest + 1) % Self.mostKept
    }
}
