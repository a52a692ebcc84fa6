public import Instrument

/// A hub that records only some sessions, and gives the events of each recorded one its weight (`sampleWeight`).
///
/// ```swift
/// let settings = SamplingSettings(SessionSampling(oneIn: 10))
/// let hub = SamplingHub(CoreHub(), settings)
/// let instrument = Instrument(hub: hub, metricalc: QualityMetricalc(), backends: [backend])
/// ```
///
/// The wrapped hub sees every event, so that a session keeps its identifiers and its sums. The decision falls with the
/// event that opens a playback and holds for the whole playback, with the events of its ads. Events of a session that
/// is not recorded are rejected (`notSampled`): they reach neither metricalc nor queue, and the instrument pings no
/// tracker for them. Events before the first playback are recorded with weight 1, because they belong to no session.
///
/// ``QualityMetricalc`` gives its metrics the weight; `CarryingMetricalc` adds it to the metrics of another metricalc.
public struct SamplingHub: Hub {
    private var hub: any Hub
    private let settings: SamplingSettings
    private var decisions = TrackerTable<Decision>()

    private struct Decision: Hashable, Sendable {
        var playbackId: String?
        /// Nil if the session is not recorded.
        var weight: Int?
    }

    /// Creates a hub that records the sessions that `settings` chooses of those that `hub` accepts.
    public init(_ hub: some Hub, _ settings: SamplingSettings) {
        self.hub = hub
        self.settings = settings
    }

    /// Judges an event with the wrapped hub, and rejects it if its session is not recorded.
    public mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        let verdict = hub.process(&event, in: &context)
        guard verdict == .accepted else { return verdict }
        let content = context.content
        if event.tracker == content { decide(event) }
        guard decisions.contains(content) else { return .accepted }
        guard let weight = decisions[content, default: Decision()].weight else { return .rejected(.notSampled) }
        if weight != 1 { event[QualityField.sampleWeight] = weight }
        return .accepted
    }

    /// Decides once for each playback.
    private mutating func decide(_ event: Event) {
        let playbackId = event[.playbackId]
        if decisions.contains(event.tracker) {
            let known = decisions[event.tracker, default: Decision()].playbackId
            if playbackId == nil || known == playbackId { return }
            if known == nil {
                // The playback began before the hub gave it an identifier: the decision stands.
                decisions[event.tracker, default: Decision()].playbackId = playbackId
                return
            }
        } else if playbackId == nil, !event.action.opensPlayback {
            return
        }
        let identifier = playbackId ?? event[.senderId] ?? event.tracker.description
        let weight = settings.current.weight(of: identifier)
        decisions[event.tracker, default: Decision()] = Decision(playbackId: playbackId, weight: weight)
    }

    /// Drops everything about a removed tracker.
    public mutating func forget(_ tracker: TrackerID) {
        hub.forget(tracker)
        decisions.remove(tracker)
    }

    /// Notifies the wrapped hub.
    public mutating func ready() { hub.ready() }

    /// Notifies the wrapped hub.
    public mutating func end() { hub.end() }
}

extension Rejection {
    /// The session of the event is not recorded, because only one of N sessions is.
    public static let notSampled = Rejection("notSampled")
}

extension Action {
    /// Whether the action opens a playback after the one before has ended.
    var opensPlayback: Bool {
        switch self {
        case .mediaRequest, .streamLoad, .bufferBegin, .seekBegin, .start: true
        default: false
        }
    }
}
