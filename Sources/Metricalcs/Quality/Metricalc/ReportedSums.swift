internal import Instrument

/// The reported sums of a session, so that a metricalc reports each part of a sum once.
struct ReportedSums: Hashable, Sendable {
    /// The identity of the session's metrics, and what it was made from.
    var identity = Attributes() {
        didSet { for name in renditions.keys { renditions[name]?.attributes = nil } }
    }
    var hasIdentity = false
    /// The content's tracker, to which the session's metrics belong, also those that an event of an ad made known.
    var tracker: TrackerID?
    var streamId: String?
    var playbackId: String?
    var requests = 0
    var loads = 0
    var plays = 0
    var ends = 0
    var playTime = 0
    var rebufferTime = 0
    var rebuffers = 0
    var seekTime = 0
    var seeks = 0
    var watchTime = 0
    var switchesUp = 0
    var switchesDown = 0
    var fastTime = 0
    var slowTime = 0
    var requestErrors = 0
    var renditions: [String: ReportedRendition] = [:]
}

/// The reported time of a rendition, and the attributes of its metrics, which are made once.
struct ReportedRendition: Hashable, Sendable {
    var milliseconds = 0
    var attributes: Attributes?
}
