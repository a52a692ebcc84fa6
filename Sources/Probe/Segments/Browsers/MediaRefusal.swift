/// The reason for which browsers refuse media that other players may play.
struct MediaRefusal: Error, Hashable, Sendable {
    /// What the media contradicts.
    enum Ground: Hashable, Sendable {
        /// The byte stream format of Media Source Extensions, or every codec that browsers have.
        case format
        /// The codecs that the manifest declares. A player that reads the codecs from the media does not notice.
        case declaration
    }

    var ground = Ground.format
    /// The defect, what was expected, and the remedy.
    var message: String

    /// - Parameters:
    ///   - found: what the media has.
    ///   - expected: what browsers expect instead, as a noun.
    ///   - remedy: what to do.
    init(_ found: String, expected: String, remedy: String = "package the media again", ground: Ground = .format) {
        self.ground = ground
        message = "\(found); browsers expect \(expected): \(remedy)"
    }
}

/// The media that a player takes.
public enum MediaAcceptance: Hashable, Sendable {
    /// What libavformat reads. Players outside of browsers have separate demuxers with other limits, which are not
    /// modelled; media that every browser refuses is a ``StreamWarning``.
    case anything
    /// What the Media Source Extensions of browsers take (W3C, ISO BMFF Byte Stream Format). Anything else is an error
    /// that ends the playback, because the browser's media element has failed.
    ///
    /// `usesDeclaredCodecs` is true for a player that creates its buffers with the codecs of the manifest: a
    /// contradiction between manifest and media is an error, too.
    case mediaSource(usesDeclaredCodecs: Bool)

    /// Whether a player fails because of a reason.
    func refuses(_ ground: MediaRefusal.Ground) -> Bool {
        switch (self, ground) {
        case (.anything, _): false
        case (.mediaSource, .format): true
        case (.mediaSource(let usesDeclaredCodecs), .declaration): usesDeclaredCodecs
        }
    }
}
