internal import Instrument

/// The state that all connections of an origin share: sessions, rules, log and content.
final class Reception: Sendable {
    private struct State {
        var sessions: [String: Session] = [:]
        var schedule: DeliverySchedule
        var schedules: [String: DeliverySchedule]
        var shared: Link?
        var rules: [FaultRule]
        var generation = 0
        var connections = 0
    }

    /// The client of a request, and its session.
    struct Admission: Sendable {
        var session: Session
        /// The path without the session.
        var path: String
        /// The prefix of the path in a redirect.
        var prefix: String
        var fault: (index: Int, rule: FaultRule)?
    }

    let configuration: OriginConfiguration
    let site: Site
    let log: AccessLog
    let start: Timestamp
    /// The session of requests for the origin's pages: without link and rules, and without starting a session's time.
    private let visitors: Session
    private let state: Lock<State>

    /// The limit of sessions: each costs memory while the origin runs.
    static var mostSessions: Int { 100_000 }

    init(site: Site, schedule: DeliverySchedule, faults: [FaultRule], configuration: OriginConfiguration) {
        self.site = site
        self.configuration = configuration
        start = configuration.clock.timestamp
        log = AccessLog(capacity: configuration.rememberedRequests)
        let link = Link(.unlimited, sharing: .fair, start: start.instant)
        visitors = Session(name: "", start: start, link: link)
        state = Lock(State(schedule: schedule, schedules: configuration.sessionSchedules, rules: faults))
    }

    var clock: any SchedulingClock { configuration.clock }

    func nextConnection() -> Int {
        state.withLock { state in
            state.connections += 1
            return state.connections
        }
    }

    /// Returns the session of a request and the rule that applies to it; nil above the limit of sessions.
    func admit(_ head: RequestHead, at now: Timestamp) -> Admission? {
        let (name, path) = Self.split(head.path)
        let prefix = name.isEmpty ? "" : "/s/" + name
        if Site.isOwnPage(path) { return Admission(session: visitors, path: path, prefix: prefix) }
        guard let session = session(name, at: now) else { return nil }
        let (rules, generation) = state.withLock { ($0.rules, $0.generation) }
        let index =
            // A browser's preflight request is no request of the player.
            rules.isEmpty || head.method == "OPTIONS"
            ? nil : session.rule(of: rules, generation: generation, path: path, at: now.instant)
        return Admission(session: session, path: path, prefix: prefix, fault: index.map { ($0, rules[$0]) })
    }

    /// `/s/NAME/rest` is a session and a path.
    static func split(_ path: String) -> (session: String, path: String) {
        guard path.hasPrefix("/s/") else { return ("", path) }
        let rest = path.dropFirst(3)
        guard let slash = rest.firstIndex(of: "/") else { return (String(rest), "/") }
        return (String(rest[..<slash]), String(rest[slash...]))
    }

    func setRules(_ rules: [FaultRule]) {
        state.withLock { state in
            state.rules = rules
            state.generation += 1
        }
    }

    /// Sets the schedule of one session, or of all sessions without a separate schedule.
    func setSchedule(_ schedule: DeliverySchedule, session name: String?) {
        let now = clock.now
        let links = state.withLock { state in
            if let name {
                state.schedules[name] = schedule
            } else {
                state.schedule = schedule
            }
            let concerned = state.sessions.values.filter { session in
                name.map { $0 == session.name } ?? (state.schedules[session.name] == nil)
            }
            return configuration.scope == .server ? [state.shared].compactMap(\.self) : concerned.map(\.link)
        }
        for link in links { link.follow(schedule, at: now) }
    }

    private func session(_ name: String, at now: Timestamp) -> Session? {
        state.withLock { state in
            if let session = state.sessions[name] { return session }
            guard state.sessions.count < Self.mostSessions else { return nil }
            let session = Session(name: name, start: now, link: link(for: name, at: now.instant, in: &state))
            state.sessions[name] = session
            return session
        }
    }

    private func link(for name: String, at now: MonotonicInstant, in state: inout State) -> Link {
        let schedule = state.schedules[name] ?? state.schedule
        switch configuration.scope {
        case .session: return Link(schedule, sharing: configuration.sharing, start: now)
        case .server:
            let link = state.shared ?? Link(state.schedule, sharing: configuration.sharing, start: now)
            state.shared = link
            return link
        }
    }
}
