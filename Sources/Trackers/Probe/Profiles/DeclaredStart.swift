/// What a player does with the start that an HLS stream declares (`EXT-X-START`).
///
/// An offset behind the end means the end, one before the beginning the beginning (RFC 8216bis, section 4.4.2.2).
package enum DeclaredStart: Hashable, Sendable {
    /// Playback of a recording begins there, but at least this time before the end.
    case used(beforeEnd: Duration = .zero)
    /// Playback begins as if the stream declared no start.
    case ignored
}
