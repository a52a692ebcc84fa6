package import Instrument
internal import InstrumentHTTP
internal import InstrumentWatch

extension IncidentBook {
    /// Performs what is due, and returns the messages.
    /// - Parameter contact: what the sessions hear, which is needed while ``mayHold``.
    mutating func advance(to now: Timestamp, _ contact: HostContact) -> [AlertMessage] {
        endSilences(at: now)
        let covers = covers(at: now)
        openWorks = covers.count { if case .maintenance = $0.state { true } else { false } }
        for id in order where incidents[id]?.isClosed == false {
            mute(id, covers, at: now)
            if var incident = incidents.removeValue(forKey: id) {
                incident.locate(by: watchers, at: now)
                incidents[id] = incident
            }
            attend(id, contact, at: now)
            if let deadline = incidents[id]?.closeDeadline, deadline <= now.instant { close(id, at: now) }
        }
        let messages = ready
        ready = []
        messageCount += messages.count
        nextDeadline = open.compactMap { deadline(of: $0) }.min()
        return messages
    }

    /// When an incident has something to do. The ends of silences and windows are seen at the next evaluation.
    private func deadline(of incident: Incident) -> MonotonicInstant? {
        if incident.isClosed { return nil }
        // An incident that is about to close has no other messages.
        if let deadline = incident.closeDeadline { return deadline }
        if incident.state.isMuted { return nil }
        let release = incident.state == .acknowledged ? incident.acknowledgement?.until?.instant : nil
        let deadlines = [incident.messageDeadline, release, reminder(of: incident), nextEscalation(of: incident)]
        return deadlines.compactMap(\.self).min()
    }

    private func reminder(of incident: Incident) -> MonotonicInstant? {
        guard incident.state == .open, !incident.toldReceivers.isEmpty, let last = incident.lastMessage else {
            return nil
        }
        return last.advanced(by: settings.repeatInterval)
    }

    private func nextEscalation(of incident: Incident) -> MonotonicInstant? {
        guard incident.state == .open, let since = incident.unattendedSince,
            settings.escalation.indices.contains(incident.escalations)
        else { return nil }
        return since.advanced(by: settings.escalation[incident.escalations].after)
    }

    // MARK: Silences and maintenance

    private mutating func endSilences(at now: Timestamp) {
        for silence in silences where silence.ends.instant <= now.instant {
            let action = "\(silence.kind.rawValue) ends"
            record(AuditEntry(time: now.wallTime, by: "", action: action, target: silence.id, text: silence.reason))
        }
        silences.removeAll { $0.ends.instant <= now.instant }
        if !endedWindows.isEmpty { endedWindows = endedWindows.filter { $0.value > now.wallTime } }
    }

    /// The windows of the configuration that are open, without those that a person ended early.
    func openWindows(at now: WallTime) -> [MaintenanceWindow] {
        settings.maintenance.filter { window in
            guard window.isActive(at: now) else { return false }
            return endedWindows.isEmpty || endedWindows[window.id].map { $0 <= now } ?? true
        }
    }

    /// Something that hides streams now.
    private struct Cover {
        /// The state of an incident whose streams it hides.
        let state: Incident.State
        let hides: (Incident.Member) -> Bool
    }

    /// What hides streams now. A silence comes before planned work: somebody knows of this very fault.
    private func covers(at now: Timestamp) -> [Cover] {
        let begun = silences.filter { $0.hasBegun(at: now.instant) }
        let sorted = begun.filter { $0.kind == .silence } + begun.filter { $0.kind == .maintenance }
        return sorted.map { Cover(state: $0.state, hides: $0.hides) }
            + openWindows(at: now.wallTime).map { Cover(state: .maintenance($0.id), hides: $0.covers) }
    }

    /// Decides which streams are hidden, and whether the incident is.
    private mutating func mute(_ id: String, _ covers: [Cover], at now: Timestamp) {
        guard var incident = incidents.removeValue(forKey: id) else { return }
        var (count, hidden): (Int, [Incident.State]) = (0, [])
        if !covers.isEmpty || incident.members.values.contains(where: { $0.mute != nil }) {
            for name in incident.order {
                guard let member = incident.members[name], member.isActive else { continue }
                let mute = covers.first { $0.hides(member) }?.state
                if member.mute != nil, mute == nil, !member.isTold {
                    // The receivers know of the other streams at most.
                    incident.hasNews = true
                    incident.messageDeadline = incident.messageDeadline ?? now.instant
                }
                incident.members[name]?.mute = mute
                count += 1
                if let mute { hidden.append(mute) }
            }
        }
        let isHidden = count > 0 && hidden.count == count
        var next = isHidden ? hidden.first ?? .open : incident.acknowledgement == nil ? .open : .acknowledged
        if !isHidden, let until = incident.acknowledgement?.until, until.instant <= now.instant {
            incident.note("release", "the time of \(incident.acknowledgement?.by ?? "") is over", at: now.wallTime)
            incident.acknowledgement = nil
            next = .open
        }
        // Without a stream that fails, the state stays until the incident closes.
        if incident.closeDeadline != nil, incident.state.isMuted { next = incident.state }
        change(&incident, to: next, at: now)
        incidents[id] = incident
    }

    private mutating func change(_ incident: inout Incident, to next: Incident.State, at now: Timestamp) {
        guard next != incident.state else { return }
        let before = incident.state
        incident.state = next
        incident.note("state", "is \(next.name)", at: now.wallTime)
        switch next {
        case .acknowledged:
            incident.unattendedSince = nil
            // Somebody has taken the incident while it was hidden.
            if incident.acknowledgement?.isTold == false, !incident.toldReceivers.isEmpty {
                ready.append(message(.acknowledges, incident, to: incident.toldReceivers.sorted(), at: now))
                incident.acknowledgement?.isTold = true
            }
        case .silenced, .maintenance, .closed: incident.unattendedSince = nil
        case .open:
            if incident.toldReceivers.isEmpty {
                incident.messageDeadline = incident.messageDeadline ?? now.instant
            } else {
                incident.unattendedSince = now.instant
                incident.escalations = 0
                incident.rounds += 1
                // The receivers learn that nobody has the incident any more.
                if before == .acknowledged || before.isMuted { remind(&incident, at: now) }
            }
        }
    }

    // MARK: Messages

    private mutating func attend(_ id: String, _ contact: HostContact, at now: Timestamp) {
        guard var incident = incidents[id], !incident.state.isMuted, incident.closeDeadline == nil else { return }
        if let deadline = incident.messageDeadline, deadline <= now.instant {
            incident.messageDeadline =
                inhibit(&incident, at: now.instant) ?? hold(incident, contact, at: now.instant)
            if incident.messageDeadline == nil { tell(&incident, at: now) }
        }
        if let deadline = nextEscalation(of: incident), deadline <= now.instant {
            let receivers = settings.escalation[incident.escalations].receivers
            incident.escalations += 1
            incident.note(
                "escalation",
                "nobody has acknowledged: notifies \(receivers.joined(separator: ", "))",
                at: now.wallTime
            )
            incident.toldReceivers.formUnion(receivers)
            var step = message(.opens, incident, to: receivers, at: now)
            // A receiver that got this step before must not take it for the same message.
            step.round = incident.rounds
            step.seal()
            ready.append(step)
            incident.lastMessage = now.instant
            incident.markTold()
        }
        if let deadline = reminder(of: incident), deadline <= now.instant { remind(&incident, at: now) }
        incidents[id] = incident
    }

    /// Notifies those that do not know of the incident, and those that do not know the new streams.
    private mutating func tell(_ incident: inout Incident, at now: Timestamp) {
        let known = incident.toldReceivers
        let new = incident.receivers.filter { !known.contains($0) }
        let isFirst = known.isEmpty
        let hasNews = incident.hasNews && !incident.hasHiddenNews
        guard isFirst || !new.isEmpty || hasNews else { return incident.hasNews = false }
        if !new.isEmpty {
            ready.append(message(.opens, incident, to: new, at: now))
            incident.toldReceivers.formUnion(new)
        }
        if hasNews, !isFirst { ready.append(message(.changes, incident, to: known.sorted(), at: now)) }
        if isFirst, incident.state == .open { incident.unattendedSince = now.instant }
        incident.markTold()
        (incident.hasNews, incident.lastMessage) = (false, now.instant)
    }

    private mutating func remind(_ incident: inout Incident, at now: Timestamp) {
        guard !incident.toldReceivers.isEmpty else { return }
        ready.append(message(.reminds, incident, to: incident.toldReceivers.sorted(), at: now))
        incident.markTold()
        (incident.hasNews, incident.lastMessage) = (false, now.instant)
    }

    /// Messages about everything that fires now for a receiver, for services that forget an alert unless it is sent
    /// again. Together, they list every stream.
    package func firing(for receiver: String, at now: Timestamp) -> [AlertMessage] {
        let known = open.filter { $0.toldReceivers.contains(receiver) && !$0.state.isMuted }
        return known.flatMap { incident -> [AlertMessage] in
            let streams = incident.order.filter { name in
                incident.members[name].map { $0.isActive && $0.mute == nil } ?? false
            }
            return stride(from: 0, to: streams.count, by: AlertMessage.mostStreams).map { start in
                let part = streams[start..<min(start + AlertMessage.mostStreams, streams.count)]
                return message(.reminds, incident, to: [receiver], streams: Array(part), at: now)
            }
        }
    }

    /// - Parameter streams: the streams that the message lists; nil for all of the incident.
    func message(
        _ kind: AlertMessage.Kind,
        _ incident: Incident,
        to receivers: [String],
        streams: [String]? = nil,
        by person: String? = nil,
        note: String? = nil,
        at now: Timestamp
    ) -> AlertMessage {
        var message = AlertMessage(
            alert: incident.firstAlert,
            host: incident.cause.host ?? "",
            reason: incident.reason,
            kind: kind
        )
        let facts = incident.alerts[incident.firstAlert]
        (message.condition, message.receivers) = (facts?.condition ?? "", receivers)
        (message.incident, message.severity) = (incident.id, incident.severity)
        (message.title, message.runbook) = (incident.title, facts?.runbook)
        message.text = incident.text == incident.title ? "" : incident.text
        message.link = configuration.address(ofIncident: incident.id)
        (message.sent, message.ended, message.by) = (
            now.wallTime, incident.ended, person ?? incident.acknowledgement?.by
        )
        message.changes = incident.changes.map(\.change)
        message.note = note ?? incident.acknowledgement?.note
        for name in streams ?? incident.order {
            guard let member = incident.members[name], kind == .closes || member.isActive && member.mute == nil else {
                continue
            }
            message.add(
                AlertMessage.Item(
                    stream: member.stream,
                    address: member.address,
                    labels: member.labels,
                    value: member.value,
                    since: member.since.wallTime,
                    events: member.events
                )
            )
        }
        message.since = incident.since.wallTime
        message.seal()
        return message
    }
}

extension MaintenanceWindow {
    /// Identifies the window in requests: the same as long as its name and labels are the same.
    var id: String {
        let text = matchers.sorted { $0.key < $1.key }.map { "\n\($0.key)=\($0.value)" }.joined()
        return String(SHA256.hexadecimal(of: "maintenance\n\(name)\(text)".utf8).prefix(12))
    }

    /// Whether the window's labels select a stream.
    func covers(_ member: Incident.Member) -> Bool {
        matchers.allSatisfy { name, value in
            switch name {
            case "stream":
                member.stream == value || member.origin?.stream == value || member.labels["stream"] == value
            case "host": (member.host.isEmpty ? member.labels["host"] : member.host) == value
            default: member.labels[name] == value
            }
        }
    }
}

extension IncidentBook {
    /// How long the first message about a budget waits once its stream has recovered: the short windows of burn rates
    /// last for half an hour.
    static let inhibitionGrace = Duration.seconds(1_800)
    private static let inhibitionStep = Duration.seconds(30)

    /// When the first message about the budget of a stream is looked at again; nil if it leaves now.
    ///
    /// It waits while the stream is in an incident of which the same receivers know: the budget burns because of that.
    private func inhibit(_ incident: inout Incident, at now: MonotonicInstant) -> MonotonicInstant? {
        guard incident.toldReceivers.isEmpty, incident.streamCount == 0 else { return nil }
        let streams = incident.activeMembers.map { $0.labels["stream"] }
        let receivers = incident.receivers
        let isKnown = { (stream: String?) in
            stream.flatMap { places[$0] }?.contains { incidents[$0]?.toldReceivers.isSuperset(of: receivers) ?? false }
                ?? false
        }
        if !streams.isEmpty, streams.allSatisfy(isKnown) { incident.inhibited = now }
        guard let latest = incident.inhibited, latest.duration(to: now) < Self.inhibitionGrace else { return nil }
        return now.advanced(by: Self.inhibitionStep)
    }

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
