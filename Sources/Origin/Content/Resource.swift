internal import Instrument

/// The resource at a path at a moment.
struct Resource: Sendable {
    var contentType: String
    var body: Body

    init(_ contentType: String, _ body: Body) {
        self.contentType = contentType
        self.body = body
    }
}

/// The moment of a request.
struct Moment: Hashable, Sendable {
    /// The calendar time by which live media go.
    var now: WallTime
    /// When the origin was started.
    var originStart: WallTime
    /// When the session made its first request.
    var sessionStart: WallTime
}
