/// The core metrics of one tracker.
struct PlaybackMetrics: Hashable {
    /// The playback that was asked for or loaded last.
    private struct Opening: Hashable {
        var playbackId: String?
        var didRequest = false
        var didLoad = false
    }

    private var opening = Opening()
    private var identity = MetricIdentity()
    private var losses = CoreLosses()
    private var playbackId: String?

    mutating func process(_ event: Event, into metrics: inout [Metric]) {
        let hub = event.hubReading
        heal(before: event, hub, into: &metrics)
        switch event.action {
        case .mediaRequest:
            note(\.didRequest, of: event)
            add(.numRequests, 1, event, &metrics)
        case .streamLoad:
            note(\.didLoad, of: event)
            add(.numLoads, 1, event, &metrics)
        case .start:
            if let time = startTime(of: event) { add(.startTime, time, event, &metrics) }
            add(.numPlays, 1, event, &metrics)
        case .bufferFinish where Self.isRebuffer(event):
            if let time = event[Action.bufferBegin.timeKey] { add(.rebufferTime, time, event, &metrics) }
            add(.numRebuffers, 1, event, &metrics)
        case .end, .stop, .next:
            add(.numEnds, 1, event, &metrics)
        default: break
        }
        if let played = hub.played { add(.playTime, played, event, &metrics) }
    }

    /// Adds the parts that belong to events that a filter left out.
    private mutating func heal(before event: Event, _ hub: HubReading, into metrics: inout [Metric]) {
        if !event.attributes.hasText(playbackId, for: AttributeKey<String>.playbackId.name) {
            // The first identifier of a playback does not begin another one.
            if playbackId != nil { losses = CoreLosses() }
            playbackId = event[.playbackId]
        }
        let parts = losses.parts(before: event, hub: hub)
        if parts.rebuffers > 0 {
            add(.rebufferTime, parts.rebufferTime, event, &metrics)
            add(.numRebuffers, parts.rebuffers, event, &metrics)
        }
        if parts.playTime > 0 { add(.playTime, parts.playTime, event, &metrics) }
    }

    private mutating func add(_ name: MetricName, _ value: Int, _ event: Event, _ metrics: inout [Metric]) {
        let identity = identity.attributes(of: event)
        metrics.append(Metric(name, .int(value), tracker: event.tracker, time: event.time, attributes: identity))
    }

    private mutating func note(_ step: WritableKeyPath<Opening, Bool>, of event: Event) {
        let playbackId = event[.playbackId]
        if opening.playbackId != playbackId { opening = Opening(playbackId: playbackId) }
        opening[keyPath: step] = true
    }

    private func startTime(of event: Event) -> Int? {
        // Of a playback that was joined late nobody knows when it was loaded.
        guard opening.playbackId == event[.playbackId], event[.joinedLate] != true else { return nil }
        if opening.didRequest { return event[Action.mediaRequest.timeKey] }
        return opening.didLoad ? event[Action.streamLoad.timeKey] : nil
    }

    private static func isRebuffer(_ event: Event) -> Bool {
        event[.inPlaybackBlock] == true && event[.inPauseBlock] != true && event[.inSeekBlock] != true
    }
}
