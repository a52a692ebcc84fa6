public import InstrumentHTTP

/// One file with an index inside (DASH `SegmentBase`, the on-demand profile): the location of its `sidx` box.
public struct IndexedSegments: Hashable, Sendable {
    /// The file.
    public var url: HTTPURL
    /// The byte range of the index. Without `@indexRange`, the part of the file's start that players usually read.
    public var indexRange: ByteRange
    /// The initialization section.
    public var initialization: InitializationSegment?
    /// The properties of all segments: number of the first, discontinuity, and the period's position on the timeline.
    var frame: IndexFrame

    /// Returns the segments that the index lists.
    /// - Parameters:
    ///   - bytes: the bytes of ``indexRange``.
    ///   - limits: the limit of references.
    /// - Throws: ``ManifestError`` without a complete `sidx`, or if it refers to other indexes.
    public func segments(
        from bytes: [UInt8],
        limits: ManifestLimits = ManifestLimits()
    ) throws(ManifestError) -> SegmentIndex {
        let box = try SegmentIndexBox(parsing: bytes, limits: limits)
        return SegmentIndex(box.segments(of: self), isComplete: true, targetDuration: box.longestDuration)
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
}
