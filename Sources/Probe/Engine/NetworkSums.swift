internal import Instrument

/// What a playback has asked of the network so far, and how far behind the live edge it is.
struct NetworkSums: Hashable, Sendable {
    var requests = 0
    var failures = 0
    var bytes = 0
    /// bit/s of the latest segment; nil before.
    var throughput: Int?
    var liveLatency: Duration?

    /// Nothing where nothing was counted: libavformat fetches for itself, and does not say what.
    var attributes: Attributes {
        var attributes = Attributes()
        guard requests > 0 else { return attributes }
        attributes[.countRequests] = requests
        attributes[.countFailedRequests] = failures
        attributes[.receivedBytes] = bytes
        attributes[.throughput] = throughput
        attributes[.liveLatency] = liveLatency
        return attributes
    }
}
