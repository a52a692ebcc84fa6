internal import Instrument

/// Returns the resource at a path and time.
struct Resource: Sendable {
    var contentType: String
    var body: Body
    /// Further lines of the head.
    var headers: [String] = []
    /// The time for which the origin holds the response, because the resource is still being produced.
    var delay = Duration.zero
    /// When the bytes of a resource in production exist, in order; empty if all exist.
    var production: [Production] = []

    /// The responses to requests for byte ranges.
    var ranges = Ranges.kept

    /// How requests for byte ranges are answered.
    enum Ranges: Hashable, Sendable {
        /// With the range.
        case kept
        /// With the whole resource and status 200.
        case ignored
        /// With the whole resource, as if it were the range.
        case wholeBody
        /// With the range, without `Content-Range`.
        case unnamed
    }

    /// The first `count` bytes exist this long after the delay.
    struct Production: Hashable, Sendable {
        var count: Int
        var after: Duration
    }

    init(_ contentType: String, _ body: Body) {
        self.contentType = contentType
        self.body = body
    }
}

/// The time of a request.
struct Moment: Hashable, Sendable {
    /// The calendar time, which determines live media.
    var now: WallTime
    /// The start of the origin.
    var originStart: WallTime
    /// The session's first request.
    var sessionStart: WallTime
}
