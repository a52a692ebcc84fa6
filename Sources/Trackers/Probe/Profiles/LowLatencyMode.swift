/// What a player does differently in low-latency streams: HLS that it plays by parts, and DASH whose segments are
/// available before they are complete (`@availabilityTimeComplete`).
package struct LowLatencyMode: Hashable, Sendable {
    /// The instant at which the media of a segment becomes playable.
    package var segmentUse: PlayerProfile.SegmentUse
    /// The condition under which fetching continues after a pause.
    package var bufferCheck: PlayerProfile.BufferCheck
    /// As ``PlayerProfile/replacementDistance``.
    package var replacementDistance: Double?
    /// As ``LivePolicy/targetLatencyOfDASH``; nil as in other live streams.
    package var targetLatencyOfDASH: LivePolicy.Distance?
    /// How the playback rate follows the latency; nil as in other live streams.
    package var catchUp: LivePolicy.CatchUp?
    /// Whether the player requests a segment of DASH as soon as the one before is available; the server holds it.
    package var requestsUnavailable: Bool
    /// Whether the player requests the first two segments of a rendition of DASH at once, where both are there.
    package var requestsTwo: Bool

    /// Creates a mode.
    package init(
        segmentUse: PlayerProfile.SegmentUse,
        bufferCheck: PlayerProfile.BufferCheck = PlayerProfile.BufferCheck(),
        replacementDistance: Double? = nil,
        targetLatencyOfDASH: LivePolicy.Distance? = nil,
        catchUp: LivePolicy.CatchUp? = nil,
        requestsUnavailable: Bool = false,
        requestsTwo: Bool = false
    ) {
        (self.segmentUse, self.bufferCheck) = (segmentUse, bufferCheck)
        (self.replacementDistance, self.catchUp) = (replacementDistance, catchUp)
        self.targetLatencyOfDASH = targetLatencyOfDASH
        (self.requestsUnavailable, self.requestsTwo) = (requestsUnavailable, requestsTwo)
    }
}
