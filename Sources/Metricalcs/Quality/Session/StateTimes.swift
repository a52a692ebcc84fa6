/// Milliseconds in each state of a session.
public struct StateTimes: Hashable, Sendable {
    private var idle = 0
    private var joining = 0
    private var playing = 0
    private var paused = 0
    private var rebuffering = 0
    private var pausedBuffering = 0
    private var seeking = 0
    private var ad = 0
    private var ended = 0
    private var failed = 0
    private var stopped = 0

    /// Creates times of zero.
    package init() {}

    /// The milliseconds in a state.
    public internal(set) subscript(state: SessionState) -> Int {
        get {
            switch state {
            case .idle: idle
            case .joining: joining
            case .playing: playing
            case .paused: paused
            case .rebuffering: rebuffering
            case .pausedBuffering: pausedBuffering
            case .seeking: seeking
            case .ad: ad
            case .ended: ended
            case .failed: failed
            case .stopped: stopped
            }
        }
        set {
            switch state {
            case .idle: idle = newValue
            case .joining: joining = newValue
            case .playing: playing = newValue
            case .paused: paused = newValue
            case .rebuffering: rebuffering = newValue
            case .pausedBuffering: pausedBuffering = newValue
            case .seeking: seeking = newValue
            case .ad: ad = newValue
            case .ended: ended = newValue
            case .failed: failed = newValue
            case .stopped: stopped = newValue
            }
        }
    }

    /// The sum of several states.
    public func sum(_ states: SessionState...) -> Int { states.reduce(0) { $0 + self[$1] } }

    /// The sum of all states: the length of the session.
    public var total: Int { SessionState.allCases.reduce(0) { $0 + self[$1] } }
}
