public import Instrument

/// The state machine of content playback, by the core table of the data model.
///
/// Each tracker has a state of its own. An illegal event is rejected and changes nothing. After `End`, `Stop` or `Next`
/// the next `MediaRequest`, `StreamLoad`, `BufferBegin`, `SeekBegin` or `Start` opens a new playback.
public struct CoreHub: Hub, Hashable {
    private var states = TrackerTable<PlaybackState>()

    /// Creates a hub that has seen nothing.
    public init() {}

    /// Judges an event by the core table, and adds counters, sums, blocks and identifiers.
    public mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        let before = states[event.tracker, default: PlaybackState()]
        var after = before
        let isNewPlayback = before.didFinish && Self.opensPlayback(event.action)
        if isNewPlayback { after.beginNewPlayback() }

        if let rejection = after.apply(event) { return .rejected(rejection) }

        if before.isPlaying, let last = before.lastAccepted {
            let played = last.milliseconds(to: event.time.instant)
            after.accumPlayTime += played
            event[milliseconds: .deltaPlayTime] = played
        }
        after.lastAccepted = event.time.instant
        after.assignIdentifiers(at: event.action, isNewPlayback: isNewPlayback, in: context)
        changePings(at: event, in: &context)
        after.write(to: &event, before: before)
        states[event.tracker, default: after] = after
        return .accepted
    }

    /// Keeps nothing of a removed tracker.
    public mutating func forget(_ tracker: TrackerID) { states.remove(tracker) }

    private static func opensPlayback(_ action: Action) -> Bool {
        switch action {
        case .mediaRequest, .streamLoad, .bufferBegin, .seekBegin, .start: true
        default: false
        }
    }

    private func changePings(at event: Event, in context: inout HubContext) {
        switch event.action {
        case .start: context.startPings(of: event.tracker)
        case .end, .stop, .next: context.stopPings(of: event.tracker)
        case .error where event[.isFatal] == true: context.stopPings(of: event.tracker)
        default: break
        }
    }
}
