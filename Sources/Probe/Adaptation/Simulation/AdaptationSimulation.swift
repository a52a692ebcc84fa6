internal import Instrument

/// Plays segmented media over a bandwidth trace as a player would, in virtual time.
///
/// Nothing is fetched and nothing waits; times are exact to the nanosecond. The playback model is the one that the
/// probe plays real streams with. One segment is fetched at a time, audio is left out, and the rate is 1.
///
/// ```swift
/// let result = AdaptationSimulation(media: .bigBuckBunny, trace: trace, profile: .dashJS).run()
/// print(result.averageBitrate, result.rebufferingTime)
/// ```
public struct AdaptationSimulation: Hashable, Sendable {
    /// What is played.
    public var media: SegmentedMedia
    /// What the network carries.
    public var trace: BandwidthTrace
    /// How the player behaves; its retries and its live policy play no part here.
    public var profile: PlayerProfile
    /// How often the rule is asked whether to give up a download. hls.js asks each 100 ms.
    public var checkInterval: Duration
    /// How fine the pieces are in which a segment becomes playable while it arrives; a frame at 25 frames a second.
    public var pieceDuration: Duration

    /// Creates a simulation; intervals are at least 1 ms.
    public init(
        media: SegmentedMedia,
        trace: BandwidthTrace,
        profile: PlayerProfile,
        checkInterval: Duration = .milliseconds(100),
        pieceDuration: Duration = .milliseconds(40)
    ) {
        self.media = media
        self.trace = trace
        self.profile = profile
        self.checkInterval = max(checkInterval, .milliseconds(1))
        self.pieceDuration = max(pieceDuration, .milliseconds(1))
    }

    /// Plays everything, from a request at zero to the end of the last segment.
    public func run() -> AdaptationResult {
        if media.segments.isEmpty { return AdaptationResult() }
        var run = SimulationRun(self)
        for index in media.segments.indices { run.fetch(index) }
        return run.finish()
    }
}
