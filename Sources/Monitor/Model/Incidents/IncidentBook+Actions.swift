package import Instrument
internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentWatch

/// What a person does to an incident.
package enum IncidentAction: Hashable, Sendable {
    /// Takes the incident, for a time or until it closes.
    case acknowledge(id: String, until: Duration?, note: String)
    /// Gives the incident back.
    case release(id: String)
    case close(id: String)
    case silence([LabelMatcher], for: Duration, reason: String)
    case unsilence(id: String)
    /// Begins planned work after a delay; without matchers, it concerns all streams.
    case maintain([LabelMatcher], after: Duration, for: Duration, name: String)
    /// Ends planned work, or calls it off. A window of the configuration ends for this time only.
    case endMaintenance(id: String)
}

/// Why an action is refused.
package enum IncidentActionError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownIncident(String)
    case unknownSilence(String)
    case unknownMaintenance(String)
    case isClosed(String)
    case isNotAcknowledged(String)
    case tooManySilences

    package var description: String {
        switch self {
        case .unknownIncident(let id): "no incident has the identifier \(id); list them with GET /api/incidents"
        case .unknownSilence(let id): "no silence has the identifier \(id); list them with GET /api/silences"
        case .unknownMaintenance(let id):
            "no planned work has the identifier \(id), or its window is not open now; list them with GET /api/maintenance"
        case .isClosed(let id): "the incident \(id) is closed already"
        case .isNotAcknowledged(let id): "nobody has the incident \(id); nothing is to be released"
        case .tooManySilences:
            "a monitor keeps at most \(IncidentBook.mostSilences) silences and planned works; remove one, or let one with a wider matcher replace several"
        }
    }
}

/// Who did what.
package struct AuditEntry: Hashable, Sendable {
    package var time: WallTime
    /// The person or the token; empty for the monitor itself.
    package var by: String
    package var action: String
    /// The incident, silence or stream.
    package var target: String
    package var text: String

    package init(time: WallTime, by: String, action: String, target: String, text: String = "") {
        (self.time, self.by, self.action) = (time, by, action)
        (self.target, self.text) = (target, text)
    }
}

extension IncidentBook {
    package static let mostSilences = 1_000
    /// Entries of the audit log that are kept.
    static let mostAuditEntries = 1_000

    /// Performs an action for a person; returns the identifier of the incident or silence.
    package mutating func perform(
        _ action: IncidentAction,
        by person: String,
        at now: Timestamp
    ) throws(IncidentActionError) -> String {
        switch action {
        case .acknowledge(let id, let length, let note): try acknowledge(id, person, length, note, at: now)
        case .release(let id): try release(id, person, at: now)
        case .close(let id):
            _ = try openIncident(id)
            close(id, by: person, at: now)
        case .silence(let matchers, let length, let reason):
            return try add(
                Silence(
                    id: newIdentifier(matchers, at: now),
                    matchers: matchers,
                    ends: now.advanced(by: length),
                    by: person,
                    reason: reason
                ),
                at: now
            )
        case .unsilence(let id):
            guard removeSilence(id, .silence) else { throw .unknownSilence(id) }
        case .maintain(let matchers, let delay, let length, let name):
            let begins = now.advanced(by: delay)
            var work = Silence(
                id: newIdentifier(matchers, at: now),
                matchers: matchers,
                ends: begins.advanced(by: length),
                by: person,
                reason: name
            )
            (work.kind, work.begins) = (.maintenance, begins)
            return try add(work, at: now)
        case .endMaintenance(let id):
            guard removeSilence(id, .maintenance) || endWindow(id, at: now.wallTime) else {
                throw .unknownMaintenance(id)
            }
        }
        record(
            AuditEntry(time: now.wallTime, by: person, action: action.name, target: action.target, text: action.text)
        )
        wake(at: now.instant)
        return action.target
    }

    package mutating func record(_ entry: AuditEntry) {
        audit.append(entry)
        if audit.count > Self.mostAuditEntries { audit.removeFirst(audit.count - Self.mostAuditEntries) }
    }

    private func openIncident(_ id: String) throws(IncidentActionError) -> Incident {
        guard let incident = incidents[id] else { throw .unknownIncident(id) }
        if incident.isClosed { throw .isClosed(id) }
        return incident
    }

    private mutating func acknowledge(
        _ id: String,
        _ person: String,
        _ length: Duration?,
        _ note: String,
        at now: Timestamp
    ) throws(IncidentActionError) {
        var incident = try openIncident(id)
        incident.acknowledgement = Incident.Acknowledgement(
            by: person,
            until: length.map { now.advanced(by: $0) },
            note: note
        )
        let end = incident.acknowledgement?.until.map { " until \($0.wallTime.rfc3339)" } ?? ""
        let remark = note.isEmpty ? "" : ": \(note)"
        incident.note("acknowledge", "\(person) has the incident\(end)\(remark)", at: now.wallTime)
        incident.unattendedSince = nil
        incident.acknowledgement?.isTold = !incident.state.isMuted
        if !incident.state.isMuted {
            incident.state = .acknowledged
            if !incident.toldReceivers.isEmpty {
                let receivers = incident.toldReceivers.sorted()
                ready.append(message(.acknowledges, incident, to: receivers, by: person, note: note, at: now))
            }
        }
        incidents[id] = incident
    }

    private mutating func release(_ id: String, _ person: String, at now: Timestamp) throws(IncidentActionError) {
        var incident = try openIncident(id)
        guard incident.acknowledgement != nil else { throw .isNotAcknowledged(id) }
        incident.acknowledgement = nil
        incident.note("release", "\(person) releases the incident", at: now.wallTime)
        // The next advance opens it, and reminds the receivers.
        incidents[id] = incident
    }

    private mutating func newIdentifier(_ matchers: [LabelMatcher], at now: Timestamp) -> String {
        silenceCount += 1
        let text = "\(silenceCount)\n\(now.wallTime.milliseconds)\n\(matchers.map(\.description))"
        return String(SHA256.hexadecimal(of: text.utf8).prefix(12))
    }

    private mutating func add(_ silence: Silence, at now: Timestamp) throws(IncidentActionError) -> String {
        guard silences.count < Self.mostSilences else { throw .tooManySilences }
        silences.append(silence)
        let what = silence.matchers.isEmpty ? "all streams" : silence.matchers.map(\.description).joined(separator: " ")
        let begin = silence.begins.map { $0.wallTime > now.wallTime ? " from \($0.wallTime.rfc3339)" : "" } ?? ""
        let remark = silence.reason.isEmpty ? "" : ": \(silence.reason)"
        record(
            AuditEntry(
                time: now.wallTime,
                by: silence.by,
                action: silence.kind.rawValue,
                target: silence.id,
                text: "\(what)\(begin) until \(silence.ends.wallTime.rfc3339)\(remark)"
            )
        )
        wake(at: now.instant)
        return silence.id
    }

    private mutating func removeSilence(_ id: String, _ kind: Silence.Kind) -> Bool {
        guard let index = silences.firstIndex(where: { $0.id == id && $0.kind == kind }) else { return false }
        silences.remove(at: index)
        return true
    }

    /// Ends the windows of the configuration with an identifier that are open; false if none is.
    private mutating func endWindow(_ id: String, at now: WallTime) -> Bool {
        let ends = openWindows(at: now).filter { $0.id == id }.compactMap { $0.end(at: now) }
        guard let end = ends.max() else { return false }
        endedWindows[id] = end
        return true
    }
}

extension IncidentAction {
    /// The name in the audit log and of the path.
    package var name: String {
        switch self {
        case .acknowledge: "acknowledge"
        case .release: "release"
        case .close: "close"
        case .silence: "silence"
        case .unsilence: "unsilence"
        case .maintain: "maintenance"
        case .endMaintenance: "end maintenance"
        }
    }

    fileprivate var target: String {
        switch self {
        case .acknowledge(let id, _, _), .release(let id), .close(let id), .unsilence(let id), .endMaintenance(let id):
            id
        case .silence, .maintain: ""
        }
    }

    fileprivate var text: String {
        guard case .acknowledge(_, let length, let note) = self else { return "" }
        let time = length.map { "for \(Int($0.seconds)) s" } ?? "until it closes"
        return note.isEmpty ? time : "\(time): \(note)"
    }
}

extension Timestamp {
    /// The same moment, later by a duration.
    func advanced(by duration: Duration) -> Timestamp {
        Timestamp(
            instant: instant.advanced(by: duration),
            wallTime: WallTime(milliseconds: wallTime.milliseconds.saturatingAdd(Int64(duration.milliseconds)))
        )
    }
}
