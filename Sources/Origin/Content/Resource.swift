internal import Instrument

/// Returns the resource at a path and time.
struct Resource: Sendable {
    var contentType: String
    var body: Body

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
