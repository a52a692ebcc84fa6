internal import Instrument

/// Sums of a playback's requests, and its live latency.
struct NetworkSums: Hashable, Sendable {
    var requests = 0
    var failures = 0
    var bytes = 0
    /// bit/s of the latest segment; nil before.
    var throughput: Int?
    var liveLatency: Duration?
    /// The cues of the loaded subtitles; nil without subtitles.
    var subtitleCues: Int?

    /// Empty for progressive media: libavformat makes the requests and does not report them.
    var attributes: Attributes {
        var attributes = Attributes()
        guard requests > 0 else { return attributes }
        attributes[.countRequests] = requests
        attributes[.countFailedRequests] = failures
        attributes[.receivedBytes] = bytes
        attributes[.throughput] = throughput
        attributes[.liveLatency] = liveLatency
        attributes[.countSubtitleCues] = subtitleCues
        return attributes
    }
}
