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
        return .array(shown.map { .object(members(of: $0, at: now, MonitorModel.fewPieces, evidence)) })
    }

    /// One incident with its log and its streams; nil for an unknown identifier.
    package func detail(
        of id: String,
        at now: Timestamp,
        evidence: (IncidentEvidence) -> [JSONValue] = { _ in [] }
    ) -> JSONValue? {
        guard let incident = incidents[id] else { return nil }
        var members = members(of: incident, at: now, MonitorModel.manyPieces, evidence)
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

extension Incident.Member {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "stream": .string(stream), "address": .string(address), "since": .string(since.wallTime.rfc3339),
            "alerts": .array(alerts.sorted().map { .string($0) }),
            "labels": .object(labels.mapValues { .string($0) }),
        ]
        members["ended"] = ended.map { .string($0.rfc3339) }
        members["muted"] = mute.map { .string($0.name) }
        members["place"] = origin.map { .string(StreamOrigin.name(of: $0.place)) }
        return .object(members)
    }
}

extension LogEntry {
    /// The entry in documents.
    var json: JSONValue { ["time": .string(time.rfc3339), "kind": .string(kind), "text": .string(text)] }
}

extension Silence {
    /// The silence in documents.
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "kind": .string(kind.rawValue), "ends": .string(ends.wallTime.rfc3339),
            "by": .string(by), "matchers": .array(matchers.map(\.json)),
        ]
        members[kind == .silence ? "reason" : "name"] = .string(reason)
        members["begins"] = begins.map { .string($0.wallTime.rfc3339) }
        return .object(members)
    }
}

extension MaintenanceWindow {
    /// The window in documents, as work that a person planned; without a person.
    fileprivate func json(at now: WallTime) -> JSONValue {
        let matchers = matchers.sorted { $0.key < $1.key }.map { label, value -> JSONValue in
            ["label": .string(label), "value": .string(value)]
        }
        var members: [String: JSONValue] = [
            "id": .string(id), "kind": "maintenance", "name": .string(name), "matchers": .array(matchers),
            "isConfigured": true,
        ]
        members["ends"] = end(at: now).map { .string($0.rfc3339) }
        return .object(members)
    }
}

extension LabelMatcher {
    /// The matcher in documents, and in the state file.
    var json: JSONValue {
        var members: [String: JSONValue] = ["label": .string(label), "value": .string(value)]
        if pattern != nil { members["isRegex"] = true }
        return .object(members)
    }

    /// Reads a matcher; nil for another form.
    package init?(_ json: JSONValue) {
        guard let label = json["label"]?.string, !label.isEmpty, let value = json["value"]?.string,
            label.utf8.count <= 200, value.utf8.count <= 1_000
        else { return nil }
        let isRegex = json["isRegex"]
        switch isRegex {
        case nil, .null?: self.init(label: label, value: value)
        case .bool(let isRegex)?: self.init(label: label, value: value, isRegex: isRegex)
        default: return nil
        }
    }
}

extension AuditEntry {
    fileprivate var json: JSONValue {
        [
            "time": .string(time.rfc3339), "by": .string(by), "action": .string(action), "target": .string(target),
            "text": .string(text),
        ]
    }
}
