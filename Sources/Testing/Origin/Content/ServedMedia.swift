/// The media that an origin serves, in addition to its own pages.
public enum ServedMedia: Sendable {
    /// The fixtures, under `vod/`, `live/` and `event/`.
    case fixtures(Fixtures)
    /// A folder with its content, or one file, under `media/`.
    case files(String)
}

/// A served path.
package struct CatalogueEntry: Hashable, Sendable {
    /// The path, for ``Origin/url(_:session:)``.
    package var path: String
    /// A short description.
    package var summary: String

    init(_ path: String, _ summary: String) {
        self.path = path
        self.summary = summary
    }
}
