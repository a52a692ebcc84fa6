internal import Instrument

/// Simulates a player's playback of segmented media over a bandwidth trace, in virtual time.
///
/// The simulation fetches nothing and does not wait; times are exact to the nanosecond. It uses the playback model
/// with which the probe plays real streams. It fetches one segment at a time, without audio, at the rate 1.
package struct AdaptationSimulation: Hashable, Sendable {
    /// The media.
    package var media: SegmentedMedia
    /// The network's bandwidth.
    package var trace: BandwidthTrace
    /// The player's behaviour; the simulation ignores its retries and its live policy.
    package var profile: PlayerProfile
    /// The interval at which the rule may abort a download. hls.js checks every 100 ms.
    package var checkInterval: Duration
    /// The duration of the parts in which an arriving segment becomes playable: a frame at 25 frames per second.
    package var pieceDuration: Duration

    /// Creates a simulation; intervals are at least 1 ms.
    package init(
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

    /// Simulates the whole playback, from a request at zero to the end of the last segment.
    package func run() -> AdaptationResult {
        if media.segments.isEmpty { return AdaptationResult() }
        var run = SimulationRun(self)
        for index in media.segments.indices { run.fetch(index) }
        return run.finish()
    }
}
