public import Instrument

/// The eight core metrics of the data model.
///
/// `StartTime` counts from the request of the same playback, else from its load; requests of an earlier playback of the
/// same tracker do not count. Expects events that a hub has accepted.
public struct CoreMetricalc: Metricalc, Hashable {
    private struct Opening: Hashable {
        var playbackId: String?
        var didRequest = false
        var didLoad = false

        mutating func note(_ step: WritableKeyPath<Self, Bool>, of playbackId: String?) {
            if self.playbackId != playbackId { self = Self(playbackId: playbackId) }
            self[keyPath: step] = true
        }
    }

    /// The played time as it stands on the wire, in whole milliseconds.
    private static let playedMilliseconds = AttributeKey<Int>(AttributeKey.deltaPlayTime.name)

    private var openings: [TrackerID: Opening] = [:]

    /// Creates a metricalc that has seen nothing.
    public init() {}

    /// Appends the core metrics that follow from `event`.
    public mutating func process(_ event: Event, into metrics: inout [Metric]) {
        switch event.action {
        case .mediaRequest:
            openings[event.tracker, default: Opening()].note(\.didRequest, of: event[.playbackId])
            metrics.append(Metric(.numRequests, 1, of: event))
        case .streamLoad:
            openings[event.tracker, default: Opening()].note(\.didLoad, of: event[.playbackId])
            metrics.append(Metric(.numLoads, 1, of: event))
        case .start:
            if let time = startTime(of: event) { metrics.append(Metric(.startTime, .int(time), of: event)) }
            metrics.append(Metric(.numPlays, 1, of: event))
        case .bufferFinish where Self.isRebuffer(event):
            if let time = event[Action.bufferBegin.timeKey] {
                metrics.append(Metric(.rebufferTime, .int(time), of: event))
            }
            metrics.append(Metric(.numRebuffers, 1, of: event))
        case .end, .stop, .next:
            metrics.append(Metric(.numEnds, 1, of: event))
        default: break
        }
        if let played = event[Self.playedMilliseconds] {
            metrics.append(Metric(.playTime, .int(played), of: event))
        }
    }

    private func startTime(of event: Event) -> Int? {
        guard let opening = openings[event.tracker], opening.playbackId == event[.playbackId] else { return nil }
        if opening.didRequest { return event[Action.mediaRequest.timeKey] }
        return opening.didLoad ? event[Action.streamLoad.timeKey] : nil
    }

    private static func isRebuffer(_ event: Event) -> Bool {
        event[.inPlaybackBlock] == true && event[.inPauseBlock] != true && event[.inSeekBlock] != true
    }
}
