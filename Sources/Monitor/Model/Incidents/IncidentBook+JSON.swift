package import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText
package import InstrumentWatch

extension IncidentBook {
    /// Open incidents of a document; further ones are counted.
    private static let mostOpen = 500
    /// Closed incidents of a document.
    private static let mostEnded = 50

    /// The incidents for the page: the open ones, then those that closed last.
    /// - Parameter evidence: what was kept of a stream.
    package func document(at now: Timestamp, evidence: (IncidentEvidence) -> [JSONValue] = { _ in [] }) -> JSONValue {
        let known = order.reversed().compactMap { incidents[$0] }
        let (open, closed) = (known.filter { !$0.isClosed }, known.filter(\.isClosed))
        let shown = open.prefix(Self.mostOpen) + closed.prefix(Self.mostEnded)
        return .array(shown.map { .object(members(of: $0, at: now, IncidentEvidence.fewPieces, evidence)) })
    }

    /// One incident with its log and its streams; nil for an unknown identifier.
    package func detail(
        of id: String,
        at now: Timestamp,
        evidence: (IncidentEvidence) -> [JSONValue] = { _ in [] }
    ) -> JSONValue? {
        guard let incident = incidents[id] else { return nil }
        var members = members(of: incident, at: now, IncidentEvidence.manyPieces, evidence)
        members["log"] = .array(incident.log.map(\.json))
        members["members"] = .array(
            incident.order.prefix(Incident.mostKeptStreams).compactMap { incident.members[$0]?.json }
        )
        return .object(members)
    }

    /// The silences, those that end first at the front.
    package var silenceDocument: JSONValue { .array(silences(of: .silence).map(\.json)) }

    /// Planned work: what persons began or planned, and the windows of the configuration that are open. What ends first
    /// is at the front.
    package func maintenanceDocument(at now: WallTime) -> JSONValue {
        let windows = openWindows(at: now).map { ($0.end(at: now), $0.json(at: now)) }
        let works = silences(of: .maintenance).map { (Optional($0.ends.wallTime), $0.json) }
        let never = WallTime(milliseconds: .max)
        return .array((works + windows).sorted { ($0.0 ?? never) < ($1.0 ?? never) }.map(\.1))
    }

    /// Those that hide a stream now, with the alerts of its incidents.
    package func hidingDocument(of stream: WatchedStream, at now: Timestamp) -> JSONValue? {
        if silences.isEmpty, settings.maintenance.isEmpty { return nil }
        var member = Incident.Member(
            stream: stream.name,
            address: "",
            host: stream.url.host,
            labels: stream.labels,
            alerts: [],
            since: now,
            origin: stream.origin
        )
        for id in places[stream.name] ?? [] {
            member.alerts.formUnion(incidents[id]?.members[stream.name]?.alerts ?? [])
        }
        let hiding = silences.filter { $0.hasBegun(at: now.instant) && $0.hides(member) }.map(\.json)
        let windows = openWindows(at: now.wallTime).filter { $0.covers(member) }.map { $0.json(at: now.wallTime) }
        return hiding.isEmpty && windows.isEmpty ? nil : .array(hiding + windows)
    }

    private func silences(of kind: Silence.Kind) -> [Silence] {
        silences.filter { $0.kind == kind }.sorted { ($0.ends.wallTime, $0.id) < ($1.ends.wallTime, $1.id) }
    }

    /// Who did what, the latest at the front.
    package var auditDocument: JSONValue { .array(audit.reversed().map(\.json)) }

    private func members(
        of incident: Incident,
        at now: Timestamp,
        _ mostEvidence: Int,
        _ evidence: (IncidentEvidence) -> [JSONValue]
    ) -> [String: JSONValue] {
        let active = incident.order.filter { incident.members[$0]?.isActive ?? false }
        // While the incident is open, those that fail come first.
        let names = (active + incident.order.filter { !(incident.members[$0]?.isActive ?? false) }).prefix(100)
        var members: [String: JSONValue] = [
            "id": .string(incident.id), "title": .string(incident.title),
            "severity": .string(incident.severity.rawValue), "state": .string(incident.state.name),
            "since": .string(incident.since.wallTime.rfc3339), "streams": .array(names.map { .string($0) }),
            "streamCount": .int(incident.streamCount), "failing": .int(active.count),
            "labels": .object(incident.sharedLabels.mapValues { .string($0) }), "text": .string(incident.text),
            "viewerMinutes": .double((incident.viewerMinutes(at: now) * 10).rounded() / 10),
            "alerts": .array(incident.alerts.keys.sorted().map { .string($0) }),
            "kind": .string(incident.cause.kind.rawValue), "reopenings": .int(incident.reopenings),
        ]
        members["changes"] = .array(incident.changes.map(\.json))
        members["ended"] = incident.ended.map { .string($0.rfc3339) }
        members["places"] = incident.scope?.json
        members["scope"] = incident.scope.map { .string($0.text) }
        var kept: [JSONValue] = []
        for name in names where kept.count < mostEvidence {
            guard let member = incident.members[name] else { continue }
            let wish = IncidentEvidence(
                stream: name,
                isActive: member.isActive,
                begin: min(member.since.wallTime, incident.since.wallTime),
                end: member.ended ?? now.wallTime
            )
            kept += evidence(wish)
        }
        members["evidence"] = .array(Array(kept.prefix(mostEvidence)))
        if !incident.isOwnNetwork { members["host"] = incident.cause.host.map { .string($0) } }
        members["status"] = incident.cause.status.map { .int($0) }
        members["resource"] = incident.cause.resource.map { .string($0.rawValue) }
        switch incident.state {
        case .silenced(let id), .maintenance(let id):
            members["hiddenBy"] = id.isEmpty ? nil : .string(id)
            if let silence = silences.first(where: { $0.id == id }) {
                members["by"] = .string(silence.by)
                members["until"] = .string(silence.ends.wallTime.rfc3339)
                members["note"] = .string(silence.reason)
            } else if let window = openWindows(at: now.wallTime).first(where: { $0.id == id }) {
                members["until"] = window.end(at: now.wallTime).map { .string($0.rfc3339) }
                members["note"] = .string(window.name)
            }
        case .open, .acknowledged, .closed:
            guard let acknowledgement = incident.acknowledgement else { break }
            members["by"] = .string(acknowledgement.by)
            members["until"] = acknowledgement.until.map { .string($0.wallTime.rfc3339) }
            if !acknowledgement.note.isEmpty { members["note"] = .string(acknowledgement.note) }
        }
        return members
    }
}

/// The incidents, silences and the audit log in the state file. What the configuration has (labels, addresses,
/// receivers) is not saved.
extension IncidentBook {
    /// The state to save. Times are those of the calendar, because no instant survives its process.
    func saved(at now: Timestamp) -> JSONValue {
        [
            "incidents": .array(order.compactMap { incidents[$0] }.map { saved($0, at: now) }),
            "silences": .array(
                silences.map { silence in
                    [
                        "id": .string(silence.id), "kind": .string(silence.kind.rawValue),
                        "begins": silence.begins.map { .int(Int($0.wallTime.milliseconds)) } ?? .null,
                        "ends": .int(Int(silence.ends.wallTime.milliseconds)),
                        "by": .string(silence.by), "reason": .string(silence.reason),
                        "matchers": .array(silence.matchers.map(\.json)),
                    ]
                }
            ),
            "endedWindows": .object(endedWindows.mapValues { .int(Int($0.milliseconds)) }),
            "audit": .array(
                audit.map { entry in
                    [
                        "time": .int(Int(entry.time.milliseconds)), "by": .string(entry.by),
                        "action": .string(entry.action), "target": .string(entry.target), "text": .string(entry.text),
                    ]
                }
            ),
        ]
    }

    private func saved(_ incident: Incident, at now: Timestamp) -> JSONValue {
        let time = { (instant: MonotonicInstant?) in
            instant.map { JSONValue.int(Int(now.wallTime(of: $0).milliseconds)) }
        }
        var members: [String: JSONValue] = [
            "id": .string(incident.id), "cause": incident.cause.json, "reason": .string(incident.reason),
            "alert": .string(incident.firstAlert), "state": .string(incident.state.name),
            "since": .int(Int(incident.since.wallTime.milliseconds)), "streamCount": .int(incident.streamCount),
            "members": .array(incident.order.compactMap { incident.members[$0]?.saved }),
            "alerts": .array(incident.alerts.keys.sorted().map { .string($0) }),
            "ownNetwork": .bool(incident.isOwnNetwork), "reopenings": .int(incident.reopenings),
            "past": .int(incident.pastMilliseconds), "escalations": .int(incident.escalations),
            "rounds": .int(incident.rounds),
            "told": .array(incident.toldReceivers.sorted().map { .string($0) }), "news": .bool(incident.hasNews),
            "labels": .object(incident.sharedLabels.mapValues { .string($0) }),
            "changes": .array(incident.changes.map(\.json)),
            "log": .array(
                incident.log.map {
                    ["time": .int(Int($0.time.milliseconds)), "kind": .string($0.kind), "text": .string($0.text)]
                }
            ),
        ]
        // The configuration has the others.
        let own = incident.alerts.filter { name, _ in !configuration.alerts.contains { $0.name == name } }
        if !own.isEmpty { members["facts"] = .object(own.mapValues(\.saved)) }
        members["ended"] = incident.ended.map { .int(Int($0.milliseconds)) }
        members["opened"] = time(incident.opened)
        members["lastMessage"] = time(incident.lastMessage)
        members["message"] = time(incident.messageDeadline)
        members["close"] = time(incident.closeDeadline)
        members["unattended"] = time(incident.unattendedSince)
        if let acknowledgement = incident.acknowledgement {
            var taken: [String: JSONValue] = [
                "by": .string(acknowledgement.by), "note": .string(acknowledgement.note),
            ]
            if !acknowledgement.isTold { taken["untold"] = true }
            taken["until"] = acknowledgement.until.map { .int(Int($0.wallTime.milliseconds)) }
            members["acknowledgement"] = .object(taken)
        }
        return .object(members)
    }

    /// Restores what ``saved(at:)`` made; entries of another form are left out.
    /// - Returns: false if the value is not a state of incidents.
    mutating func restore(_ json: JSONValue, streams: [String: WatchedStream], at now: Timestamp) -> Bool {
        guard case .array(let saved)? = json["incidents"], case .array(let silences)? = json["silences"],
            case .array(let entries)? = json["audit"]
        else { return false }
        let alerts = Dictionary(configuration.alerts.map { ($0.name, $0) }) { first, _ in first }
        for entry in saved.suffix(100_000) {
            guard let incident = Incident(saved: entry, streams: streams, alerts: alerts, at: now),
                incidents[incident.id] == nil
            else { continue }
            incidents[incident.id] = incident
            order.append(incident.id)
            for (name, member) in incident.members where member.isActive && !incident.isClosed {
                places[name, default: []].insert(incident.id)
            }
        }
        // An open incident takes the group of a closed one.
        for isClosed in [true, false] {
            for id in order {
                guard let incident = incidents[id], incident.isClosed == isClosed else { continue }
                for name in incident.order {
                    guard let member = incident.members[name] else { continue }
                    register(id, incident.cause, host: member.host, member.labels)
                }
            }
        }
        for entry in silences.prefix(Self.mostSilences) {
            if let silence = Silence(saved: entry, at: now) { self.silences.append(silence) }
        }
        if case .object(let ended)? = json["endedWindows"] {
            for (id, end) in ended { endedWindows[id] = end.int.map { WallTime(milliseconds: Int64($0)) } }
        }
        for entry in entries.suffix(Self.mostAuditEntries) {
            guard let time = entry["time"]?.int, let action = entry["action"]?.string else { continue }
            audit.append(
                AuditEntry(
                    time: WallTime(milliseconds: Int64(time)),
                    by: entry["by"]?.string ?? "",
                    action: action,
                    target: entry["target"]?.string ?? "",
                    text: entry["text"]?.string ?? ""
                )
            )
        }
        silenceCount = audit.count
        wake(at: now.instant)
        return true
    }

    /// Notes that receivers know of the alert already: an earlier version, which saved no incidents, sent the message.
    mutating func assumeTold(_ alert: AlertConfiguration, _ stream: String, at now: Timestamp) {
        for id in places[stream] ?? [] where incidents[id]?.members[stream]?.alerts.contains(alert.name) == true {
            incidents[id]?.toldReceivers.formUnion(alert.receivers)
            incidents[id]?.lastMessage = now.instant
            incidents[id]?.messageDeadline = nil
            incidents[id]?.hasNews = false
            incidents[id]?.markTold()
        }
    }

    /// Whether an open incident has an alert of a stream.
    func has(_ alert: String, of stream: String) -> Bool {
        (places[stream] ?? []).contains { incidents[$0]?.members[stream]?.alerts.contains(alert) ?? false }
    }

    /// The alerts that open incidents have, with their streams.
    var activeAlerts: [AlertEngine.Key] {
        open.flatMap { incident in
            incident.activeMembers.flatMap { member in
                member.alerts.sorted().map { AlertEngine.Key(alert: $0, stream: member.stream) }
            }
        }
    }
}
