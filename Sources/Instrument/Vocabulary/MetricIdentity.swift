/// Sender, stream and playback of a metric, kept from one event to the next: as long as they stay the same, all metrics
/// share one copy of them.
package struct MetricIdentity: Hashable, Sendable {
    private var senderId: String?
    private var streamId: String?
    private var playbackId: String?
    private var attributes = Attributes()

    /// Creates an identity that knows none yet.
    package init() {}

    /// The identity of a metric that is computed from `event`.
    package mutating func attributes(of event: Event) -> Attributes {
        let (sender, stream, playback) = (event[.senderId], event[.streamId], event[.playbackId])
        if sender != senderId || stream != streamId || playback != playbackId {
            (senderId, streamId, playbackId) = (sender, stream, playback)
            attributes = Attributes(minimumCapacity: 3)
            attributes[.senderId] = sender
            attributes[.streamId] = stream
            attributes[.playbackId] = playback
        }
        return attributes
    }
}
