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

extension MonitorModel {
    /// Performs what is due for incidents.
    mutating func advanceIncidents(to now: Timestamp) -> [MonitorEffect] {
        book.advance(to: now, book.mayHold ? hostContact : HostContact()).map { .notify($0) }
    }

    /// What the sessions of this monitor hear; looks at every stream.
    var hostContact: HostContact {
        streams.all.reduce(into: HostContact()) { contact, state in
            guard state.stream.origin == nil else { return }
            if let answer = state.latestAnswer { contact.latestAnswer = max(answer, contact.latestAnswer ?? answer) }
            guard state.run != nil || state.stream.schedule == .continuous else { return }
            contact.playing.insert(state.stream.url.host)
        }
    }
}
