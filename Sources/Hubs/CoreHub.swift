/// The state machine of content playback, by the core table of the data model.
///
/// Each tracker has a separate state. An illegal event is rejected and changes nothing. After `End`, `Stop` or `Next`
/// the next `MediaRequest`, `StreamLoad`, `BufferBegin`, `SeekBegin` or `Start` opens a new playback.
public struct CoreHub: Hub, Hashable {
    private var states = TrackerTable<PlaybackState>()

    /// Creates a hub that has seen nothing.
    public init() {}

    /// Judges an event by the core table, and sets counters, sums, blocks, identifiers and `deltaPlayTime`.
    ///
    /// These attributes are the hub's alone: a value that the caller gave for one of them is replaced.
    public mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        if states.contains(event.tracker) {
            return states[event.tracker, default: PlaybackState()].process(&event, in: &context)
        }
        // A rejected event must not even leave the trace that its tracker is known.
        var fresh = PlaybackState()
        let verdict = fresh.process(&event, in: &context)
        if verdict == .accepted { states[event.tracker, default: fresh] = fresh }
        return verdict
    }

    /// Keeps nothing of a removed tracker.
    public mutating func forget(_ tracker: TrackerID) { states.remove(tracker) }
}
