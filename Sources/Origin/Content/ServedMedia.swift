/// The media that an origin serves beside its own pages.
public enum ServedMedia: Sendable {
    /// The fixtures, under `vod/`, `live/` and `event/`.
    case fixtures(Fixtures)
    /// A folder with all that is in it, or one file, under `media/`.
    case files(String)
}

/// Something that is served.
public struct CatalogueEntry: Hashable, Sendable {
    /// Where, to be given to ``Origin/url(_:session:)``.
    public var path: String
    /// A short description.
    public var summary: String

    init(_ path: String, _ summary: String) {
        self.path = path
        self.summary = summary
    }
}
