/// The visible properties of a rendition.
struct Quality: Hashable, Sendable {
    /// Pixels; 0 where unknown.
    var width: Int
    var height: Int
    /// bit/s; 0 where unknown.
    var bitrate: Int

    /// Whether it is better than another: by resolution, else by bitrate (data model, `QualityChangeUp`).
    func isBetter(than other: Quality) -> Bool {
        let (mine, others) = (width * height, other.width * other.height)
        return mine != others ? mine > others : bitrate > other.bitrate
    }
}
