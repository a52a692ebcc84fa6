package import Instrument
internal import InstrumentHTTP
package import InstrumentWatch

/// The incidents as a value: takes alerts that fire and are resolved, groups them, and makes the messages.
///
/// An alert joins, in this order: the open incident that its stream is in, if the cause is of the same realm (so that
/// stalls and errors of a stream that is down are no incidents); an open incident with the same fault on the same host,
/// or with the same value of a label of `group_by`; an incident of the same kind that closed a moment ago. Otherwise it
/// opens an incident.
///
/// The owner calls ``advance(to:)`` when ``nextDeadline`` has come. There is no clock and no I/O. Memory is bounded by
/// the number of streams and by ``mostClosed``.
package struct IncidentBook: Sendable {
    /// What incidents have in common.
    struct GroupKey: Hashable, Sendable {
        enum Place: Hashable, Sendable {
            case host(String)
            case label(String, String)
            case everywhere
        }

        var fault: String
        var place: Place
    }

    /// Closed incidents that are kept.
    package static let mostClosed = 200
    /// Faults of several hosts within this time may have one cause.
    static let networkWindow = Duration.seconds(300)

    package internal(set) var settings: IncidentSettings
    let defaultWait: Duration
    package internal(set) var incidents: [String: Incident] = [:]
    /// The identifiers in the order of opening.
    package internal(set) var order: [String] = []
    /// Open incidents in which a stream fails.
    var places: [String: Set<String>] = [:]
    /// The incident of a group, closed ones too.
    var groups: [GroupKey: String] = [:]
    /// Silences, and planned work that a person began, which may lie ahead.
    package internal(set) var silences: [Silence] = []
    /// Planned works that hid streams when the time passed last.
    var openWorks = 0
    /// Windows of the configuration that a person ended early, by identifier, and until when they would last.
    var endedWindows: [String: WallTime] = [:]
    package internal(set) var audit: [AuditEntry] = []
    var silenceCount = 0
    /// The hosts of all streams that have alerts, by the place of the monitor that plays them; empty for this monitor.
    var hosts: [String: Set<String>] = [:]
    /// The places of the streams.
    var watchers = Watchers()
    package internal(set) var nextDeadline: MonotonicInstant?
    /// Messages that were made.
    package internal(set) var messageCount = 0
    /// Messages that do not wait for a deadline.
    var ready: [AlertMessage] = []
    /// The address of the monitor's page for links.
    var configuration: WatchConfiguration

    init(_ configuration: WatchConfiguration, groupWait: Duration) {
        (self.configuration, settings, defaultWait) = (configuration, configuration.incidents, groupWait)
    }

    var groupWait: Duration { settings.groupWait ?? defaultWait }

    /// Takes a new configuration.
    mutating func configure(_ configuration: WatchConfiguration, hosts: [String: Set<String>]) {
        (self.configuration, settings, self.hosts) = (configuration, configuration.incidents, hosts)
    }

    /// The open incidents, in the order of opening.
    package var open: [Incident] { order.compactMap { incidents[$0] }.filter { !$0.isClosed } }

    // MARK: Alerts

    /// Takes what a part of the monitor has found.
    mutating func take(_ news: [IncidentNews], at now: Timestamp) {
        for entry in news {
            switch entry {
            case .fires(let signal): fires(signal, at: now)
            case .resolves(let alert, let subject): resolves(alert, of: subject, at: now)
            }
        }
    }

    /// Takes an alert that begins to fire.
    mutating func fires(_ signal: IncidentSignal, at now: Timestamp) {
        let id = incident(for: signal, at: now) ?? openIncident(signal, at: now)
        let before = incidents[id]?.cause.kind
        let isNewHost = join(id, signal, at: now)
        // Where the cause of a stall is known only now, no host is new.
        let isExplained = before != .network && incidents[id]?.cause.kind == .network
        guard signal.cause.kind == .network, isNewHost || isExplained else { return }
        mergeNetwork(of: signal.origin?.place ?? "", at: now)
    }

    /// Takes the end of an alert.
    /// - Parameter isWatched: whether the monitor still watches the stream.
    mutating func resolves(_ alert: String, of stream: String, isWatched: Bool = true, at now: Timestamp) {
        for id in places[stream] ?? [] {
            guard let member = incidents[id]?.members[stream], member.isActive, member.alerts.contains(alert),
                // Taken out, so that its streams are changed in place.
                var incident = incidents.removeValue(forKey: id)
            else { continue }
            incident.members[stream]?.alerts.remove(alert)
            if member.alerts.count == 1 { recover(stream, isWatched, in: &incident, at: now) }
            incidents[id] = incident
            if let deadline = incident.closeDeadline { wake(at: deadline) }
        }
    }

    /// Takes the cause of an alert that fires on: a first cause may be seen after its consequences.
    mutating func explains(_ cause: StreamCause, of stream: WatchedStream, at now: Timestamp) {
        guard !cause.isConsequence else { return }
        for id in places[stream.name] ?? [] {
            guard var incident = incidents[id], incident.cause.isConsequence, incident.cause.realm == cause.realm else {
                continue
            }
            var cause = cause
            if cause.host == nil { cause.host = stream.url.host }
            let other = keys(of: cause, host: stream.url.host, stream.labels).compactMap { groups[$0] }.first {
                incidents[$0]?.isClosed == false
            }
            if let other, other != id {
                move(id, into: other, "the cause is the same: \(cause.title)", at: now)
                continue
            }
            explain(&incident, cause, at: now)
            incidents[id] = incident
            register(id, cause, host: stream.url.host, stream.labels)
            if cause.kind == .network { mergeNetwork(of: stream.origin?.place ?? "", at: now) }
        }
    }

    private func explain(_ incident: inout Incident, _ cause: StreamCause, at now: Timestamp) {
        incident.note("cause", "the cause is: \(cause.title)", at: now.wallTime)
        incident.cause = cause
    }

    /// The open incident that the same stream has in other places, and that is about this stream alone: one outage,
    /// however different it looks from each place.
    private func incidentElsewhere(of signal: IncidentSignal) -> String? {
        guard let origin = signal.origin else { return nil }
        let names = watchers.names(elsewhere: origin)
        let candidates = Set(names.flatMap { places[$0] ?? [] }).filter { id in
            guard let incident = incidents[id], !incident.isClosed, !incident.isOwnNetwork else { return false }
            return incident.cause.realm == signal.cause.realm
                && incident.members.values.allSatisfy { !$0.isActive || $0.origin?.stream == origin.stream }
        }
        return candidates.isEmpty ? nil : order.first { candidates.contains($0) }
    }

    /// The incident that an alert joins.
    private mutating func incident(for signal: IncidentSignal, at now: Timestamp) -> String? {
        let own = (places[signal.stream] ?? []).sorted { place(of: $0) < place(of: $1) }
        if let id = own.first(where: { incidents[$0]?.cause.realm == signal.cause.realm }) { return id }
        var recent: String?
        for key in keys(of: signal.cause, host: signal.host, signal.labels) {
            guard let id = groups[key], let incident = incidents[id] else { continue }
            guard let ended = incident.ended else { return id }
            let elapsed = Duration.milliseconds(
                max(0, now.wallTime.milliseconds.saturatingSubtract(ended.milliseconds))
            )
            if elapsed < settings.reopen { recent = recent ?? id }
        }
        if let elsewhere = incidentElsewhere(of: signal) { return elsewhere }
        if let recent { reopen(recent, signal, at: now) }
        return recent
    }

    private func place(of id: String) -> MonotonicInstant {
        incidents[id]?.since.instant ?? MonotonicInstant(nanoseconds: .max)
    }

    /// What a stream with this cause shares with others.
    private func keys(of cause: StreamCause, host: String, _ labels: [String: String]) -> [GroupKey] {
        var keys: [GroupKey] = []
        if cause.kind == .network { keys.append(GroupKey(fault: cause.fault, place: .everywhere)) }
        keys.append(GroupKey(fault: cause.fault, place: .host(cause.host ?? host)))
        for label in settings.groupBy {
            guard let value = labels[label] else { continue }
            keys.append(GroupKey(fault: cause.fault, place: .label(label, value)))
        }
        return keys
    }

    mutating func register(_ id: String, _ cause: StreamCause, host: String, _ labels: [String: String]) {
        let isOwnNetwork = incidents[id]?.isOwnNetwork ?? false
        for key in keys(of: cause, host: host, labels) where key.place != .everywhere || isOwnNetwork {
            groups[key] = id
        }
    }

    private mutating func openIncident(_ signal: IncidentSignal, at now: Timestamp) -> String {
        let text = "\(signal.cause.fault)\n\(signal.stream)\n\(signal.since.wallTime.milliseconds)"
        var id = String(SHA256.hexadecimal(of: text.utf8).prefix(12))
        while incidents[id] != nil { id = String(SHA256.hexadecimal(of: id.utf8).prefix(12)) }
        var incident = Incident(id: id, signal, at: now.instant)
        incident.note("open", "opens: \(signal.cause.title)", at: now.wallTime)
        incidents[id] = incident
        order.append(id)
        return id
    }

    private mutating func reopen(_ id: String, _ signal: IncidentSignal, at now: Timestamp) {
        guard var incident = incidents[id] else { return }
        (incident.cause, incident.reason, incident.firstAlert) = (signal.cause, signal.reason, signal.alert)
        (incident.state, incident.ended, incident.acknowledgement) = (.open, nil, nil)
        (incident.toldReceivers, incident.messageDeadline, incident.escalations) = ([], nil, 0)
        (incident.opened, incident.isOwnNetwork, incident.changes) = (now.instant, false, [])
        (incident.streamCount, incident.hosts) = (incident.knownStreamCount, [])
        incident.reopenings += 1
        incident.note("open", "opens again: the same cause returned", at: now.wallTime)
        incidents[id] = incident
        order.removeAll { $0 == id }
        order.append(id)
    }

    /// Adds an alert to an incident.
    /// - Returns: whether the incident had no stream of this host.
    private mutating func join(_ id: String, _ signal: IncidentSignal, at now: Timestamp) -> Bool {
        // Taken out, so that its streams are changed in place.
        guard var incident = incidents.removeValue(forKey: id) else { return false }
        let (name, alert) = (signal.stream, signal.alert)
        incident.alerts[alert] = signal.facts
        incident.closeDeadline = nil
        if let member = incident.members[name], member.isActive {
            incident.members[name]?.alerts.insert(alert)
            incident.note("alert", "\(alert) fires for \(name), as a part of this outage", at: now.wallTime)
            if incident.cause.isConsequence, !signal.cause.isConsequence { explain(&incident, signal.cause, at: now) }
        } else {
            if incident.members[name] == nil {
                incident.order.append(name)
                if signal.isStream { incident.streamCount += 1 }
                incident.sharedLabels = incident.sharedLabels.filter { signal.labels[$0.key] == $0.value }
            }
            incident.members[name] = Incident.Member(
                stream: name,
                address: signal.address,
                host: signal.host,
                labels: signal.labels,
                alerts: [alert],
                since: signal.since,
                value: signal.value,
                events: signal.events,
                origin: signal.origin
            )
            incident.members[name]?.isStream = signal.isStream
            incident.note("stream", "\(name) fails (\(alert))", at: now.wallTime)
            incident.hasNews = true
            incident.add(signal.changes.map { IncidentChange($0) })
            places[name, default: []].insert(id)
        }
        if incident.messageDeadline == nil,
            incident.hasNews || !incident.toldReceivers.isSuperset(of: signal.facts.receivers)
        {
            incident.messageDeadline = messageDeadline(of: incident, signal.facts, at: now.instant)
        }
        if let deadline = incident.messageDeadline { wake(at: deadline) }
        let isNewHost = incident.hosts.insert(signal.host).inserted
        incidents[id] = incident
        register(id, signal.cause, host: signal.host, signal.labels)
        return isNewHost
    }

    /// A first message waits for the group; a message about more streams for the interval since the last one.
    private func messageDeadline(
        of incident: Incident,
        _ facts: Incident.AlertFacts,
        at now: MonotonicInstant
    ) -> MonotonicInstant {
        let first = now.advanced(by: groupWait)
        guard let last = incident.lastMessage, incident.toldReceivers.isSuperset(of: facts.receivers) else {
            return first
        }
        return max(first, last.advanced(by: settings.groupInterval))
    }

    private func recover(_ stream: String, _ isWatched: Bool, in incident: inout Incident, at now: Timestamp) {
        guard let member = incident.members[stream] else { return }
        incident.pastMilliseconds += member.milliseconds(until: now.instant)
        incident.members[stream]?.ended = now.wallTime
        incident.note("stream", "\(stream) \(isWatched ? "recovers" : "is no longer watched")", at: now.wallTime)
        if !incident.members.values.contains(where: \.isActive) {
            incident.closeDeadline = now.instant.advanced(by: groupWait)
        }
    }

    // MARK: The monitor's own network

    /// When every host fails at once without an answer, and from one place alone, the fault is on the side of the
    /// monitor in that place: one incident.
    private mutating func mergeNetwork(of place: String, at now: Timestamp) {
        guard let hosts = hosts[place], hosts.count > 1 else { return }
        let candidates = open.filter { incident in
            incident.cause.kind == .network
                && (incident.isOwnNetwork || incident.opened.duration(to: now.instant) < Self.networkWindow)
                && incident.members.values.allSatisfy { !$0.isActive || ($0.origin?.place ?? "") == place }
        }
        guard let first = candidates.first, !first.isOwnNetwork || candidates.count > 1 else { return }
        let failing = Set(candidates.flatMap { $0.members.values.filter(\.isActive).map(\.host) })
        guard hosts.isSubset(of: failing) else { return }
        let primary = candidates.first(where: \.isOwnNetwork) ?? first
        if !primary.isOwnNetwork {
            incidents[primary.id]?.isOwnNetwork = true
            incidents[primary.id]?.note(
                "cause",
                "every host fails without an answer: the monitor's own network is the likely cause",
                at: now.wallTime
            )
            if primary.lastMessage != nil { announce(primary.id, at: now.instant) }
        }
        // What fails without an answer from another place is another fault.
        if place.isEmpty { groups[GroupKey(fault: primary.cause.fault, place: .everywhere)] = primary.id }
        for other in candidates where other.id != primary.id {
            move(other.id, into: primary.id, "every host fails at once", at: now)
        }
    }

    /// Sends a message soon: something important has changed.
    private mutating func announce(_ id: String, at now: MonotonicInstant) {
        let deadline = now.advanced(by: groupWait)
        incidents[id]?.hasNews = true
        let known = incidents[id]?.messageDeadline ?? deadline
        incidents[id]?.messageDeadline = min(known, deadline)
        wake(at: deadline)
    }

    /// Closes an incident whose streams belong to another one; if nobody has learned of it, one outage is one incident,
    /// and it is removed.
    private mutating func move(_ id: String, into other: String, _ reason: String, at now: Timestamp) {
        guard id != other, var source = incidents[id], var target = incidents[other] else { return }
        for name in source.order {
            guard let member = source.members[name], member.isActive else { continue }
            source.members[name]?.ended = now.wallTime
            places[name]?.remove(id)
            places[name, default: []].insert(other)
            if var known = target.members[name], known.isActive {
                known.alerts.formUnion(member.alerts)
                target.members[name] = known
                continue
            }
            if target.members[name] == nil {
                target.order.append(name)
                if member.isStream { target.streamCount += 1 }
                target.sharedLabels = target.sharedLabels.filter { member.labels[$0.key] == $0.value }
            }
            target.members[name] = member
            target.members[name]?.isTold = false
            target.hasNews = true
        }
        target.alerts.merge(source.alerts) { known, _ in known }
        target.hosts.formUnion(source.hosts)
        target.add(source.changes)
        target.closeDeadline = nil
        if source.since.instant < target.since.instant { target.since = source.since }
        target.note("merge", "takes the streams of incident \(id): \(reason)", at: now.wallTime)
        source.note("merge", "its streams belong to incident \(other): \(reason)", at: now.wallTime)
        incidents[other] = target
        // The next stream with this fault concerns the other incident.
        for (key, value) in groups where value == id && key.fault == target.cause.fault { groups[key] = other }
        incidents[id] = source
        if source.isUnknownToPeople { forget(id) } else { close(id, because: reason, at: now) }
        if target.messageDeadline == nil {
            let first = now.instant.advanced(by: groupWait)
            let next = target.lastMessage?.advanced(by: settings.groupInterval) ?? first
            incidents[other]?.messageDeadline = max(first, next)
        }
        if let deadline = incidents[other]?.messageDeadline { wake(at: deadline) }
    }

    // MARK: The end

    /// Closes an incident, and notifies the receivers that know of it.
    mutating func close(_ id: String, by person: String? = nil, because reason: String? = nil, at now: Timestamp) {
        guard var incident = incidents[id], !incident.isClosed else { return }
        for (name, member) in incident.members {
            places[name]?.remove(id)
            if places[name]?.isEmpty == true { places[name] = nil }
            guard member.isActive else { continue }
            incident.pastMilliseconds += member.milliseconds(until: now.instant)
            incident.members[name]?.ended = now.wallTime
        }
        (incident.state, incident.ended) = (.closed, now.wallTime)
        (incident.closeDeadline, incident.messageDeadline, incident.unattendedSince) = (nil, nil, nil)
        incident.hasNews = false
        incident.note(
            "close",
            person.map { "closed by \($0)" } ?? "closes: " + (reason ?? "all streams have recovered"),
            at: now.wallTime
        )
        if !incident.toldReceivers.isEmpty {
            ready.append(message(.closes, incident, to: incident.toldReceivers.sorted(), by: person, at: now))
            wake(at: now.instant)
        }
        incident.trim()
        incidents[id] = incident
        // The next fault of one host is not that of the monitor's network.
        let everywhere = GroupKey(fault: incident.cause.fault, place: .everywhere)
        if groups[everywhere] == id { groups[everywhere] = nil }
        forgetOldest()
    }

    /// Removes an incident that was only the begin of another one.
    private mutating func forget(_ id: String) {
        for name in incidents[id]?.order ?? [] {
            places[name]?.remove(id)
            if places[name]?.isEmpty == true { places[name] = nil }
        }
        remove([id])
    }

    private mutating func forgetOldest() {
        let closed = order.filter { incidents[$0]?.isClosed ?? true }
        guard closed.count > Self.mostClosed else { return }
        remove(Set(closed.prefix(closed.count - Self.mostClosed)))
    }

    /// Removes incidents to which no stream belongs.
    private mutating func remove(_ gone: Set<String>) {
        for id in gone { incidents[id] = nil }
        order.removeAll { gone.contains($0) }
        groups = groups.filter { !gone.contains($0.value) }
    }

    mutating func wake(at deadline: MonotonicInstant) { nextDeadline = min(nextDeadline ?? deadline, deadline) }
}
