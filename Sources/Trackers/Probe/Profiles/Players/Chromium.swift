/// What the players of web pages have in common in Chromium.
enum Chromium {
    /// The media element decides when a browser starts and continues (`HAVE_FUTURE_DATA`, HTML standard, section
    /// 4.8.11). The level is not published in seconds: as soon as anything is there.
    static func buffer(maximum: Duration) -> BufferPolicy {
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: maximum)
        // media/renderers/renderer_impl.cc, `kDefaultVideoUnderflowThreshold`.
        policy.sound.alone = .seconds(3)
        // media/filters/audio_renderer_algorithm.cc, `kStartingCapacity`, `kMaxCapacity`, `IncreasePlaybackThreshold`.
        policy.sound.reserve = .milliseconds(200)
        policy.sound.largestReserve = .seconds(3)
        // Measured in eleven of twelve stalls of three players: 44 to 47 ms.
        policy.sound.outputLead = .milliseconds(45)
        return policy
    }

    /// Chromium 156 continues 30 to 60 ms after the append that ends a stall (measured).
    static let resume = Duration.milliseconds(45)
}
