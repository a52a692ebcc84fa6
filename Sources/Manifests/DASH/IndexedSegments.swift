public import InstrumentHTTP

/// One file with an index inside (DASH `SegmentBase`, the on-demand profile): where its `sidx` box is.
public struct IndexedSegments: Hashable, Sendable {
    /// The file.
    public var url: HTTPURL
    /// Where the index is. Without `@indexRange` the beginning of the file, as far as players usually look.
    public var indexRange: ByteRange
    /// What comes before the segments.
    public var initialization: InitializationSegment?
    /// What all segments share: number of the first, discontinuity, and the period's place on the timeline.
    var frame: IndexFrame

    /// The segments that the index lists.
    /// - Parameters:
    ///   - bytes: what ``indexRange`` has.
    ///   - limits: how many references there may be.
    /// - Throws: ``ManifestError`` if there is no whole `sidx` in it, or one that points to other indexes.
    public func segments(
        from bytes: [UInt8],
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) -> SegmentIndex {
        let box = try SegmentIndexBox(parsing: bytes, limits: limits)
        return SegmentIndex(box.segments(of: self), isComplete: true, targetDuration: box.longestDuration)
    }
}

/// Where the segments of a file with an index lie on the presentation timeline.
struct IndexFrame: Hashable, Sendable {
    var sequence: Int64 = 0
    var discontinuity: Int64 = 0
    /// When the period begins and ends, in nanoseconds.
    var periodStart: Int64 = 0
    var periodEnd: Int64?
    /// `@presentationTimeOffset` in nanoseconds.
    var timeOffset: Int64 = 0
    var encryption: SegmentEncryption?
}
