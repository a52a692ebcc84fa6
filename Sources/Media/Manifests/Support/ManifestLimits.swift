/// Limits for the size of a manifest. Exceeding a limit is an error or, where the rest can be played, a notice.
///
/// The defaults are far above real manifests and far below a size that causes harm: a day of two-second segments is
/// 43,200.
public struct ManifestLimits: Hashable, Sendable {
    /// Bytes of a playlist or MPD.
    public var bytes = 16 << 20
    /// Bytes of one line of a playlist, or of one attribute or text of an MPD.
    package var lineBytes = 64 << 10
    /// Bytes of all addresses that one manifest produces, so that a short manifest cannot grow by variables or long
    /// bases.
    package var addressBytes = 64 << 20
    /// Segments of a playlist or of a rendition. A live DASH window keeps the newest segments.
    public var segments = 100_000
    /// Variants and renditions together, representations of a period, definitions of a playlist: each separately.
    public var variants = 1_000
    /// Representations of all periods together.
    package var representations = 20_000
    /// Elements within elements of an MPD.
    package var depth = 32
    /// Elements of an MPD.
    package var elements = 500_000
    /// Attributes of one element of an MPD.
    package var attributes = 1_000
    /// Segments that an MPD lists one by one (`SegmentURL`), in all representations together: a list that
    /// representations inherit counts once for each of them.
    public var listedSegments = 500_000
    /// Periods of an MPD.
    package var periods = 1_000
    /// References of a `sidx` box.
    package var indexReferences = 65_535
    /// Operations of a patch of an MPD.
    package var patchOperations = 10_000
    /// Elements that all selectors and operations of one patch may look at or move, so that a short patch of a long MPD
    /// costs little.
    package var patchSteps = 4_000_000
    /// Notices that are kept, one of each kind.
    package var notices = 100

    /// The defaults.
    public init() {}
}
