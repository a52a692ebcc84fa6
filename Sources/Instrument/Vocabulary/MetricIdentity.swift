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
        if !isIdentity(of: event.attributes) { note(event) }
        return attributes
    }

    private func isIdentity(of attributes: Attributes) -> Bool {
        attributes.hasText(senderId, for: AttributeKey<String>.senderId.name)
            && attributes.hasText(streamId, for: AttributeKey<String>.streamId.name)
            && attributes.hasText(playbackId, for: AttributeKey<String>.playbackId.name)
    }

    @inline(never)
    private mutating func note(_ event: Event) {
        (senderId, streamId, playbackId) = (event[.senderId], event[.streamId], event[.playbackId])
        attributes = Attributes(exactCapacity: 3)
        attributes[.senderId] = senderId
        attributes[.streamId] = streamId
        attributes[.playbackId] = playbackId
    }
}
