package import InstrumentManifests

extension ManifestContent {
    /// What came in the place of media, as a noun; nil for media, and for bytes that may be media.
    package var replacement: String? {
        switch self {
        case .playlist, .misplacedPlaylist, .addressList, .mpd, .markup, .page, .json, .compressed, .empty: "\(self)"
        case .media, .text, .binary: nil
        }
    }
}
