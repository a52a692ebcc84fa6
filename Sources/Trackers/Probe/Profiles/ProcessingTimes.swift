/// The times for which a player works on what has come before it requests more: those of a browser's main thread,
/// beyond what the probe itself takes.
///
/// They decide which segment is complete when the link changes: after ten segments, a few milliseconds each have become
/// a tenth of a second.
package struct ProcessingTimes: Hashable, Sendable {
    /// From the arrival of an MPD, the only document of its stream, to the first request for media.
    package var presentation: Duration
    /// From the arrival of a multivariant playlist to the request of the first media playlist.
    package var multivariantPlaylist: Duration
    /// From the arrival of a media playlist to the request of the segment that waited for it.
    package var mediaPlaylist: Duration
    /// From the arrival of a segment that has an initialization section (fragmented MP4) to the track's next request.
    package var fragment: Duration
    /// From the arrival of a segment without one (transport streams), which has to be transmuxed, to the track's next
    /// request.
    package var transmuxedSegment: Duration

    /// Creates times; they are not negative.
    package init(
        presentation: Duration = .zero,
        multivariantPlaylist: Duration = .zero,
        mediaPlaylist: Duration = .zero,
        fragment: Duration = .zero,
        transmuxedSegment: Duration = .zero
    ) {
        self.presentation = max(presentation, .zero)
        self.multivariantPlaylist = max(multivariantPlaylist, .zero)
        self.mediaPlaylist = max(mediaPlaylist, .zero)
        self.fragment = max(fragment, .zero)
        self.transmuxedSegment = max(transmuxedSegment, .zero)
    }
}
