extension PlayerProfile {
    /// What a player does differently in low-latency streams: HLS that it plays by parts, and DASH whose segments are
    /// available before they are complete (`@availabilityTimeComplete`).
    package struct LowLatencyMode: Hashable, Sendable {
        /// The instant at which the media of a segment becomes playable.
        package var segmentUse: SegmentUse
        /// The condition under which fetching continues after a pause.
        package var bufferCheck: BufferCheck
        /// As ``PlayerProfile/replacementDistance``.
        package var replacementDistance: Double?
        /// As ``LivePolicy/targetLatencyOfDASH``; nil as in other live streams.
        package var targetLatencyOfDASH: LivePolicy.Distance?
        /// How the playback rate follows the latency; nil as in other live streams.
        package var catchUp: LivePolicy.CatchUp?

        /// Creates a mode.
        package init(
            segmentUse: SegmentUse,
            bufferCheck: BufferCheck = BufferCheck(),
            replacementDistance: Double? = nil,
            targetLatencyOfDASH: LivePolicy.Distance? = nil,
            catchUp: LivePolicy.CatchUp? = nil
        ) {
            (self.segmentUse, self.bufferCheck) = (segmentUse, bufferCheck)
            (self.replacementDistance, self.catchUp) = (replacementDistance, catchUp)
            self.targetLatencyOfDASH = targetLatencyOfDASH
        }
    }

    /// The profile with a mode of low latency.
    func changing(inLowLatency mode: LowLatencyMode) -> PlayerProfile {
        var profile = self
        profile.lowLatency = mode
        return profile
    }

    /// The profile as it is in low-latency streams.
    var inLowLatency: PlayerProfile {
        guard let lowLatency else { return self }
        var profile = self
        (profile.segmentUse, profile.bufferCheck) = (lowLatency.segmentUse, lowLatency.bufferCheck)
        profile.replacementDistance = lowLatency.replacementDistance
        profile.live.catchUp = lowLatency.catchUp ?? live.catchUp
        profile.live.targetLatencyOfDASH = lowLatency.targetLatencyOfDASH ?? live.targetLatencyOfDASH
        return profile
    }
}
