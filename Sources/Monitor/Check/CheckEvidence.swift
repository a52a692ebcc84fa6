/// What a check keeps of a fault that begins: a picture, a playlist, or the first bytes of a segment.
package struct CheckEvidence: Hashable, Sendable {
    /// The kind of the content.
    package enum Kind: String, Hashable, Sendable, CaseIterable { case picture, playlist, segment }

    /// The kind.
    package var kind: Kind
    /// The ending of a file's name: `jpg`, `m3u8`, `mpd`, `ts`, `mp4`, …
    package var ending: String
    /// What it is, for people; holds no secrets.
    package var text: String
    /// The content. That of playlists and segments is foreign; the addresses in playlists have no secrets.
    package var bytes: [UInt8]
}
