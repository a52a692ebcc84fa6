/// Limits for streams from untrusted publishers, so that a faulty or hostile stream costs little.
public struct StreamLimits: Hashable, Sendable {
    /// The largest size of a playlist, an MPD or a file with subtitles in bytes.
    public var manifestBytes: Int
    /// The largest size of a segment or an initialization section in bytes. A segment is in memory while it arrives.
    public var segmentBytes: Int
    /// The bandwidth limit of each request, bit/s; nil for none.
    public var maximumBandwidth: Int?
    /// The time limit of each request, even if the profile allows more.
    public var longestFetch: Duration

    /// Creates limits; by default 16 MiB for a manifest, 64 MiB for a segment, unlimited bandwidth and 120 s for a
    /// request.
    public init(
        manifestBytes: Int = 16 << 20,
        segmentBytes: Int = 64 << 20,
        maximumBandwidth: Int? = nil,
        longestFetch: Duration = .seconds(120)
    ) {
        self.manifestBytes = max(1, manifestBytes)
        self.segmentBytes = max(1, segmentBytes)
        self.maximumBandwidth = maximumBandwidth.map { max(8, $0) }
        self.longestFetch = max(.milliseconds(1), longestFetch)
    }

    func bytes(of kind: ResourceKind) -> Int {
        switch kind {
        case .manifest, .playlist, .steering: manifestBytes
        case .subtitles: min(manifestBytes, segmentBytes)
        case .segment, .initialization: segmentBytes
        case .licence: 1 << 20
        case .key, .clock: 4096
        }
    }
}

extension RetryPolicy {
    /// The policy with a limit for every wait: a request without a limit could block a probe permanently.
    func limited(by configuration: ProbeConfiguration) -> RetryPolicy {
        var policy = self
        policy.loadTimeout = min(loadTimeout ?? configuration.limits.longestFetch, configuration.limits.longestFetch)
        policy.stallTimeout = stallTimeout ?? configuration.readTimeout
        return policy
    }

    /// The time after which a request without a byte of an answer is given up.
    var longestSilence: Duration {
        min(firstByteTimeout ?? stallTimeout ?? .seconds(10), loadTimeout ?? .seconds(10))
    }
}
