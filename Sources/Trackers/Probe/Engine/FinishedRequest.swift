internal import Instrument

/// A request of a stream that has ended, as the session counts it.
struct FinishedRequest: Hashable, Sendable {
    var kind: ResourceKind
    /// Bytes of the body as the server sent it.
    var bytes: Int
    /// From the request to its last byte, or to its failure.
    var time: Duration
    /// From the request to the first byte of its body; nil if no byte arrived.
    var firstByte: Duration?
    var hasFailed = false

    /// The bit/s at which a segment arrived; nil for a failure and for other resources.
    var throughput: Int? {
        guard kind == .segment, !hasFailed, bytes > 0, time > .zero else { return nil }
        return Int(clamping: Int64(clamping: Double(bytes) * 8 / time.seconds))
    }

    /// What a `RequestFinish` says.
    var attributes: Attributes {
        var attributes = Attributes()
        attributes[.requestKind] = "\(kind)"
        attributes[.requestBytes] = bytes
        attributes[.requestTime] = max(.zero, time)
        attributes[.timeToFirstByte] = firstByte.map { max(.zero, $0) }
        attributes[.requestFailed] = hasFailed
        return attributes
    }
}
