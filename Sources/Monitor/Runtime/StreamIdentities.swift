package import Instrument
internal import InstrumentProbe
package import InstrumentWatch

/// What every sample of a stream carries beside its name: the labels of the configuration, and the location of the
/// monitor. A reload replaces them for all events from then on.
package final class StreamIdentities: Sendable {
    private struct State {
        /// The labels and the location, by stream.
        var streams: [String: Attributes] = [:]
        /// The player profiles, by stream.
        var profiles: [String: String] = [:]
        /// The location alone, for what belongs to no stream.
        var monitor = Attributes()
    }

    private let state: Lock<State>

    /// Creates the identities of all streams of a configuration.
    package init(_ configuration: WatchConfiguration) { state = Lock(Self.state(configuration)) }

    /// Replaces the identities by those of another configuration.
    package func replace(_ configuration: WatchConfiguration) {
        let new = Self.state(configuration)
        state.withLock { $0 = new }
    }

    /// The attributes of a stream; nil for one that is not configured, or no longer.
    func attributes(of stream: String) -> Attributes? { state.withLock { $0.streams[stream] } }

    /// The player profile of a stream; nil for one that a browser plays, or that is not configured, or no longer.
    func profile(of stream: String) -> String? { state.withLock { $0.profiles[stream] } }

    /// The attributes of an event that is of no stream.
    var monitor: Attributes { state.withLock { $0.monitor } }

    private static func state(_ configuration: WatchConfiguration) -> State {
        var state = State()
        state.monitor[.monitorLocation] = configuration.location
        for stream in configuration.streams {
            var attributes = state.monitor
            if !stream.labels.isEmpty { attributes[.monitorLabels] = stream.labels }
            state.streams[stream.name] = attributes
            if !stream.player.needsTab { state.profiles[stream.name] = stream.profile ?? PlayerProfile.standard.name }
        }
        return state
    }
}

/// The hub of a monitor: the core hub, whose accepted events carry the labels and the location of their stream, and
/// the first event of a playback the profile of its player.
///
/// The stream's name decides, so that sessions of two streams never exchange labels. The last events of a stream that
/// was removed from the configuration carry its last labels.
package struct MonitorHub: Hub {
    private var base = CoreHub()
    private let identities: StreamIdentities
    private var latest = TrackerTable<Attributes>()

    /// Creates a hub that reads the identities at each event.
    package init(_ identities: StreamIdentities) { self.identities = identities }

    package mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        let verdict = base.process(&event, in: &context)
        if verdict == .accepted { event.attributes.merge(identity(of: event)) }
        return verdict
    }

    private mutating func identity(of event: Event) -> Attributes {
        guard let stream = event[.monitorStream] else { return identities.monitor }
        let attributes = identities.attributes(of: stream) ?? latest[event.tracker] ?? identities.monitor
        latest[event.tracker] = attributes
        guard event.action == .mediaRequest else { return attributes }
        var first = attributes
        first[.playerProfile] = identities.profile(of: stream)
        return first
    }

    package mutating func forget(_ tracker: TrackerID) {
        base.forget(tracker)
        latest.remove(tracker)
    }

    package mutating func ready() { base.ready() }
    package mutating func end() { base.end() }
}
