package import Instrument
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

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
    package var silenceDocument: JSONValue {
        .array(silences.sorted { ($0.ends.wallTime, $0.id) < ($1.ends.wallTime, $1.id) }.map(\.json))
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
        case .silenced(let id):
            guard let silence = silences.first(where: { $0.id == id }) else { break }
            members["by"] = .string(silence.by)
            members["until"] = .string(silence.ends.wallTime.rfc3339)
            members["note"] = .string(silence.reason)
        case .maintenance(let name): members["note"] = .string(name)
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
    fileprivate var json: JSONValue {
        [
            "id": .string(id), "ends": .string(ends.wallTime.rfc3339), "by": .string(by), "reason": .string(reason),
            "matchers": .array(matchers.map(\.json)),
        ]
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
