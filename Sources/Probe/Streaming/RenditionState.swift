internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// What is known of a rendition by now.
struct RenditionState: Sendable {
    let rendition: Rendition
    /// Its segments; nil before they were fetched.
    private(set) var index: SegmentIndex?
    /// Whether more will come.
    private(set) var isLive = false
    /// When its playlist is to be fetched again; nil for never.
    var reloadAt: MonotonicInstant?
    /// When something new last came.
    private(set) var changedAt: MonotonicInstant
    /// How far behind the live edge the stream wants to be played, in nanoseconds.
    private(set) var targetLatency: Int64?
    /// Whether a segment of it was looked at closely.
    var isInspected = false
    /// Where the media of the latest segment ended.
    var lastMediaEnd: (sequence: Int64, end: Int64)?
    private var timeline: RenditionTimeline?
    private var notices: [ManifestNotice] = []

    init(_ rendition: Rendition, _ presentation: Presentation, now: Timestamp) {
        self.rendition = rendition
        changedAt = now.instant
        take(rendition.source, presentation)
    }
}
