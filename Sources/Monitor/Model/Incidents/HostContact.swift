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

extension IncidentBook {
    /// The longest time that a first message waits, beyond `group_wait`, for hosts that have not answered: after 15 s
    /// without a byte, the probe gives a request up (`readTimeout` of its configuration).
    static let longestHold = Duration.seconds(15)
    private static let holdStep = Duration.seconds(1)

    /// Whether a first message may wait for other hosts.
    var mayHold: Bool { open.contains { Self.mayHold($0) } }

    private static func mayHold(_ incident: Incident) -> Bool {
        incident.toldReceivers.isEmpty && incident.cause.kind == .network && !incident.isOwnNetwork
    }

    /// When the first message about a host without an answer is looked at again; nil if it leaves now.
    ///
    /// It waits while no host has answered since the outage began and another host plays that has not failed: the fault
    /// may be on the side of the monitor. Each answer shows that its network works.
    func hold(_ incident: Incident, _ contact: HostContact, at now: MonotonicInstant) -> MonotonicInstant? {
        let limit = incident.opened.advanced(by: groupWait + Self.longestHold)
        let members = incident.activeMembers
        guard now < limit, Self.mayHold(incident), members.allSatisfy({ $0.origin == nil }),
            let begin = members.map(\.since.instant).min(), contact.latestAnswer.map({ $0 <= begin }) ?? true
        else { return nil }
        let failing = open.filter { $0.cause.kind == .network }.flatMap(\.activeMembers)
        let awaited = contact.playing.intersection(hosts[""] ?? []).subtracting(failing.map(\.host))
        return awaited.isEmpty ? nil : min(limit, now.advanced(by: Self.holdStep))
    }
}

extension MonitorModel {
    /// Performs what is due for incidents.
    mutating func advanceIncidents(to now: Timestamp) -> [MonitorEffect] {
        book.advance(to: now, book.mayHold ? hostContact : HostContact()).map { .notify($0) }
    }

    /// What the sessions of this monitor hear; looks at every stream.
    var hostContact: HostContact {
        streams.values.reduce(into: HostContact()) { contact, state in
            guard state.stream.origin == nil else { return }
            if let answer = state.latestAnswer { contact.latestAnswer = max(answer, contact.latestAnswer ?? answer) }
            guard state.run != nil || state.stream.schedule == .continuous else { return }
            contact.playing.insert(state.stream.url.host)
        }
    }
}
