internal import InstrumentQuality
internal import InstrumentWatch

/// The state of a stream in a word.
package enum StreamWord: String, Hashable, Sendable, CaseIterable {
    /// No viewer would see a picture.
    case down
    /// The picture stands since a short time.
    case stalled
    /// The stream plays, and there is a finding, or requests fail.
    case impaired
    case playing
    /// A session waits for its first picture.
    case starting
    /// The stream waits for its next session, or for the beginning of its presentation.
    case waiting
    /// Nothing is known of the stream: the monitor of its place sends nothing.
    case unknown
    /// The monitor has stopped watching the stream.
    case stopped
}

extension StreamState {
    /// Whether the picture moves.
    var isPlaying: Bool {
        switch run?.model?.state {
        case .playing?, .ad?: true
        default: false
        }
    }

    /// The state for people.
    package var word: StreamWord {
        switch phase {
        case .retired: return .stopped
        case .waiting:
            if isUp == false { return .down }
            return isUp == nil && stream.origin != nil && announcement == nil ? .unknown : .waiting
        case .running, .stopping: break
        }
        if isPlaying { return cause == nil ? .playing : .impaired }
        if isUp == false { return .down }
        if announcement != nil { return .waiting }
        switch run?.model?.state {
        case .rebuffering?, .pausedBuffering?, .seeking?: return run?.hasShownPicture == true ? .stalled : .starting
        case .paused?, .ended?, .stopped?: return .waiting
        case .failed?: return .down
        case nil, .idle?, .joining?, .playing?, .ad?: return .starting
        }
    }
}
