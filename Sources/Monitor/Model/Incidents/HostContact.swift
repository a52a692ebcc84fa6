internal import Instrument
internal import InstrumentHTTP
internal import InstrumentWatch

/// What the sessions of this monitor hear from the hosts of their streams.
struct HostContact: Hashable, Sendable {
    /// When a host answered last; nil before the first answer.
    var latestAnswer: MonotonicInstant?
    /// The hosts of the streams that play, or that start again as soon as their session has ended.
    var playing: Set<String> = []
}

extension RequestObservation {
    /// Whether the server answered, with an error at least. A transfer that broke began before the network failed.
    var isAnswer: Bool {
        switch failure {
        case nil, .status, .content: true
        case .timedOut, .connection, .nameNotFound, .proxy, .tls, .refused, .cancelled: false
        }
    }
}

extension HostContact {
    /// What the sessions of this monitor hear; looks at every stream.
    init(of streams: StreamRegister) {
        for state in streams.all where state.stream.origin == nil {
            if let answer = state.latestAnswer { latestAnswer = max(answer, latestAnswer ?? answer) }
            guard state.run != nil || state.stream.schedule == .continuous else { continue }
            playing.insert(state.stream.url.host)
        }
    }
}
