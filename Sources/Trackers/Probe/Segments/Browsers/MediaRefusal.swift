/// The reason for which browsers refuse media that other players may play.
struct MediaRefusal: Error, Hashable, Sendable {
    /// What the media contradicts.
    enum Ground: Hashable, Sendable {
        /// The byte stream format of Media Source Extensions, or every codec that browsers have.
        case format
        /// The codecs that the manifest declares. A player that reads the codecs from the media does not notice.
        case declaration
        /// What Chromium and the browsers that are made of it have, in which the profiles' players were measured; other
        /// browsers may play the media.
        case chromium
    }

    var ground = Ground.format
    /// What the media has, as a sentence.
    var found: String
    /// What browsers expect instead, as a noun.
    var expected: String
    /// What to do.
    var remedy: String

    /// - Parameters:
    ///   - found: what the media has.
    ///   - expected: what browsers expect instead, as a noun.
    ///   - remedy: what to do.
    init(_ found: String, expected: String, remedy: String = "package the media again", ground: Ground = .format) {
        (self.ground, self.found, self.expected, self.remedy) = (ground, found, expected, remedy)
    }

    /// The defect, what was expected, and the remedy.
    var message: String {
        let browsers = ground == .chromium ? "Chromium and Edge" : "browsers"
        return "\(found); \(browsers) expect \(expected): \(remedy)"
    }
}

/// The media that a player takes.
package enum MediaAcceptance: Hashable, Sendable {
    /// What libavformat reads. Players outside of browsers have separate demuxers with other limits, which are not
    /// modelled; media that every browser refuses is a ``StreamWarning``.
    case anything
    /// What the Media Source Extensions of browsers take (W3C, ISO BMFF Byte Stream Format). Anything else is an error
    /// that ends the playback, because the browser's media element has failed.
    ///
    /// `usesDeclaredCodecs` is true for a player that creates its buffers with the codecs of the manifest: a
    /// contradiction between manifest and media is an error, too. `transmuxer` reads the player's transport streams;
    /// nil for a player without one, which only codecs that all transmuxers refuse stop.
    case mediaSource(usesDeclaredCodecs: Bool, transmuxer: Transmuxer?)

    /// The transmuxer; nil for players without one, and outside of browsers.
    var transmuxer: Transmuxer? {
        if case .mediaSource(_, let transmuxer) = self { transmuxer } else { nil }
    }

    /// What a player, or the probe in its place, does because of a reason.
    enum Reaction: Hashable, Sendable { case fail, warn, nothing }

    func reaction(to ground: MediaRefusal.Ground) -> Reaction {
        switch (self, ground) {
        // Some browsers play the media.
        case (.anything, .chromium): .nothing
        case (.anything, _): .warn
        case (.mediaSource, .format), (.mediaSource, .chromium): .fail
        case (.mediaSource(let usesDeclaredCodecs, _), .declaration): usesDeclaredCodecs ? .fail : .warn
        }
    }
}
