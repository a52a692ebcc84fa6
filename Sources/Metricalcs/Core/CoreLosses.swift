/// The parts of the core metrics that belong to missing events of one playback, from the sums and blocks of the hub.
///
/// `accumPlayTime` grows by the `deltaPlayTime` of every event, and `accumBufferTime` by every finished stall: growth
/// beyond that of the events that are there belongs to events that are missing. Without `accumBufferTime`, a stall
/// whose finish is missing ends with the first event that reports its end. The queries of `sql` have the same rules.
package struct CoreLosses: Hashable, Sendable {
    /// What an event shows to be missing before it.
    package struct Parts: Hashable, Sendable {
        /// Stalls during playback.
        package var rebuffers = 0
        /// Milliseconds of these stalls.
        package var rebufferTime = 0
        /// Milliseconds played.
        package var playTime = 0
    }

    private var isKnown = false
    private var isInPlayback = false
    private var isBuffering = false
    /// Whether a stall that began with the latest event would not count: it begins in a pause or a seek.
    private var isExcused = false
    /// The same for the stall that is open.
    private var isStallExcused = false
    private var stallBegin: MonotonicInstant?
    private var bufferTime: Int?
    private var playTime: Int?

    /// Creates losses of a playback of which no event is known.
    package init() {}

    /// Returns the parts that belong to events missing before `event`, and remembers the state `hub` after it.
    package mutating func parts(before event: Event, hub: HubReading) -> Parts {
        var parts = Parts()
        let sum = hub.bufferTime
        let growth = isKnown ? max(0, (sum ?? 0).saturatingSubtract(bufferTime ?? sum ?? 0)) : 0
        if isKnown {
            countStall(before: event, growth, hub.isBuffering, &parts)
            if let sum = hub.playTime, let playTime {
                let known = playTime.saturatingAdd(hub.played ?? 0)
                parts.playTime = max(0, sum.saturatingSubtract(known))
            }
        }
        if event.endsSession {
            self = CoreLosses()
        } else {
            remember(event, hub)
        }
        return parts
    }

    private func countStall(before event: Event, _ growth: Int, _ buffers: Bool?, _ parts: inout Parts) {
        guard isInPlayback else { return }
        let isFinish = event.action == .bufferFinish
        if isFinish {
            // The stall that finishes here counts with the event.
            let other = growth.saturatingSubtract(event[Action.bufferBegin.timeKey] ?? growth)
            if other > 0, !isExcused, !isStallExcused { (parts.rebuffers, parts.rebufferTime) = (1, other) }
        } else if isBuffering {
            let isOver = event.action == .bufferBegin ? buffers != nil : buffers == false
            guard isOver, growth > 0 || !event.endsSession, !isStallExcused else { return }
            let elapsed = event[Action.bufferBegin.timeKey] ?? stallBegin?.milliseconds(to: event.time.instant) ?? 0
            (parts.rebuffers, parts.rebufferTime) = (1, growth > 0 ? growth : max(0, elapsed))
        } else if growth > 0, !isExcused {
            (parts.rebuffers, parts.rebufferTime) = (1, growth)
        }
    }

    private mutating func remember(_ event: Event, _ hub: HubReading) {
        isKnown = true
        isInPlayback = hub.isInPlayback == true
        isExcused = hub.isPaused == true || hub.isSeeking == true
        if event.action == .bufferBegin || (hub.isBuffering == true && !isBuffering) {
            (isStallExcused, stallBegin) = (isExcused, event.time.instant)
        }
        isBuffering = hub.isBuffering == true
        (bufferTime, playTime) = (hub.bufferTime, hub.playTime)
    }
}

/// The state of content playback that the hub reports with an event, read once.
package struct HubReading: Hashable, Sendable {
    /// The blocks.
    package let isInPlayback: Bool?
    package let isPaused: Bool?
    package let isSeeking: Bool?
    package let isBuffering: Bool?
    /// The sums, in milliseconds.
    package let pauseTime: Int?
    package let seekTime: Int?
    package let bufferTime: Int?
    package let playTime: Int?
    /// The milliseconds that were played since the event before.
    package let played: Int?

    /// Reads in the order in which the hub sets the attributes (`PlaybackState.write`).
    fileprivate init(_ reader: inout Attributes.RowReader) {
        played = reader.milliseconds(.deltaPlayTime)
        pauseTime = reader.milliseconds(.accumPauseTime)
        bufferTime = reader.milliseconds(.accumBufferTime)
        seekTime = reader.milliseconds(.accumSeekTime)
        playTime = reader.milliseconds(.accumPlayTime)
        isInPlayback = reader.truth(.inPlaybackBlock)
        isPaused = reader.truth(.inPauseBlock)
        isSeeking = reader.truth(.inSeekBlock)
        isBuffering = reader.truth(.inBufferBlock)
    }
}

extension Event {
    /// The state that the hub reports. Not an initializer, for which each event would be copied.
    package var hubReading: HubReading { attributes.readRow { HubReading(&$0) } }

    /// Whether a playback is over with this event.
    package var endsSession: Bool {
        switch action {
        case .end, .stop, .next: true
        case .error: self[.isFatal] == true
        default: false
        }
    }
}
