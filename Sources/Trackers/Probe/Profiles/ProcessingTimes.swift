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
    /// From the arrival of an initialization section to the request of the segment that waited for it.
    package var initialization: Duration
    /// From the arrival of a segment that has an initialization section (fragmented MP4) to the track's next request.
    package var fragment: SegmentWork
    /// From the arrival of a segment without one (transport streams), which has to be transmuxed, to the track's next
    /// request.
    package var transmuxedSegment: SegmentWork
    /// The part of `fragment` and of `transmuxedSegment` that belongs to the sample of the throughput.
    package var sampled: SampledWork

    /// Creates times; they are not negative.
    package init(
        presentation: Duration = .zero,
        multivariantPlaylist: Duration = .zero,
        mediaPlaylist: Duration = .zero,
        initialization: Duration = .zero,
        fragment: SegmentWork = SegmentWork(.zero),
        transmuxedSegment: SegmentWork = SegmentWork(.zero),
        sampled: SampledWork = SampledWork()
    ) {
        self.presentation = max(presentation, .zero)
        self.multivariantPlaylist = max(multivariantPlaylist, .zero)
        self.mediaPlaylist = max(mediaPlaylist, .zero)
        self.initialization = max(initialization, .zero)
        self.fragment = fragment
        self.transmuxedSegment = transmuxedSegment
        self.sampled = sampled
    }

    /// The time from the arrival of a segment to the track's next request.
    func work(isFragment: Bool, bytes: Int) -> Duration {
        (isFragment ? fragment : transmuxedSegment).time(for: bytes)
    }

    /// The part of it that belongs to the sample of the throughput.
    func sampledWork(isFragment: Bool, bytes: Int) -> Duration {
        (isFragment ? sampled.fragment : sampled.transmuxedSegment).time(for: bytes)
    }
}

/// The time for which a player works on a segment: a fixed part, and one that grows with its bytes.
package struct SegmentWork: Hashable, Sendable {
    private let fixed: Duration
    private let perMegabyte: Duration

    /// Creates a time; it is not negative.
    ///
    /// - Parameter perMegabyte: for each million bytes.
    package init(_ fixed: Duration, perMegabyte: Duration = .zero) {
        self.fixed = max(fixed, .zero)
        self.perMegabyte = max(perMegabyte, .zero)
    }

    /// The time for a segment of this size.
    func time(for bytes: Int) -> Duration { fixed + perMegabyte * (Double(max(0, bytes)) / 1_000_000) }
}

/// The work on segments that a player counts as part of their download.
package struct SampledWork: Hashable, Sendable {
    /// For a segment that has an initialization section.
    package var fragment = SegmentWork(.zero)
    /// For a segment without one.
    package var transmuxedSegment = SegmentWork(.zero)
}
