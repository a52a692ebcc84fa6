/// Limits for streams from untrusted publishers, so that a faulty or hostile stream costs little.
public struct StreamLimits: Hashable, Sendable {
    /// Bytes of a playlist or MPD.
    public var manifestBytes: Int
    /// Bytes of a segment or an initialization section. A segment is held in memory while it comes.
    public var segmentBytes: Int
    /// The bandwidth limit of each request, bit/s; nil for none.
    public var maximumBandwidth: Int?
    /// The limit for each request, whatever the profile allows.
    public var longestFetch: Duration

    /// Creates limits; by default 16 MiB a manifest, 64 MiB a segment, all the bandwidth there is and 120 s a request.
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
        case .manifest, .playlist: manifestBytes
        case .segment, .initialization: segmentBytes
        case .key: 4096
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
}
