internal import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

extension Incident.Member {
    var json: JSONValue {
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
    var json: JSONValue {
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
    func json(at now: WallTime) -> JSONValue {
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
    var json: JSONValue {
        [
            "time": .string(time.rfc3339), "by": .string(by), "action": .string(action), "target": .string(target),
            "text": .string(text),
        ]
    }
}

extension Silence {
    init?(saved json: JSONValue, at now: Timestamp) {
        // Files of earlier versions have silences alone, and name no kind.
        guard let id = json["id"]?.string, let ends = json["ends"]?.int, case .array(let matchers)? = json["matchers"],
            let kind = json["kind"].map({ $0.string.flatMap { Kind(rawValue: $0) } }) ?? .silence,
            kind == .maintenance || !matchers.isEmpty
        else { return nil }
        let known = matchers.compactMap { LabelMatcher($0) }
        guard known.count == matchers.count else { return nil }
        self.init(
            id: id,
            matchers: known,
            ends: now.timestamp(of: WallTime(milliseconds: Int64(ends))),
            by: json["by"]?.string ?? "",
            reason: json["reason"]?.string ?? ""
        )
        self.kind = kind
        begins = json["begins"]?.int.map { now.timestamp(of: WallTime(milliseconds: Int64($0))) }
    }
}

extension Incident {
    init?(
        saved json: JSONValue,
        streams: [String: WatchedStream],
        alerts: [String: AlertConfiguration],
        at now: Timestamp
    ) {
        guard let id = json["id"]?.string, !id.isEmpty, let cause = json["cause"].flatMap({ StreamCause($0) }),
            let alert = json["alert"]?.string, let since = json["since"]?.int, let state = json["state"]?.string,
            case .array(let saved)? = json["members"]
        else { return nil }
        let instant = { (name: String) in
            json[name]?.int.map { now.timestamp(of: WallTime(milliseconds: Int64($0))).instant }
        }
        (self.id, self.cause, firstAlert) = (id, cause, alert)
        reason = json["reason"]?.string ?? ""
        self.since = now.timestamp(of: WallTime(milliseconds: Int64(since)))
        opened = instant("opened") ?? self.since.instant
        ended = json["ended"]?.int.map { WallTime(milliseconds: Int64($0)) }
        if let taken = json["acknowledgement"], let by = taken["by"]?.string {
            let until = taken["until"]?.int.map { now.timestamp(of: WallTime(milliseconds: Int64($0))) }
            acknowledgement = Acknowledgement(by: by, until: until, note: taken["note"]?.string ?? "")
            if case .bool(true)? = taken["untold"] { acknowledgement?.isTold = false }
        }
        switch state {
        case "closed" where ended != nil: self.state = .closed
        case "acknowledged" where acknowledgement != nil: self.state = .acknowledged
        // What hides the streams is decided again; no message is due because of it.
        case "silenced": self.state = .silenced("")
        case "maintenance": self.state = .maintenance("")
        default: self.state = .open
        }
        if self.state != .closed { ended = nil }
        for entry in saved.prefix(1_000_000) {
            guard let member = Member(saved: entry, streams: streams, at: now), members[member.stream] == nil else {
                continue
            }
            members[member.stream] = member
            order.append(member.stream)
        }
        streamCount = order.isEmpty || knownStreamCount > 0 ? max(knownStreamCount, json["streamCount"]?.int ?? 0) : 0
        if case .object(let labels)? = json["labels"] { sharedLabels = labels.compactMapValues(\.string) }
        for name in json["alerts"]?.strings ?? [] {
            // Alerts about objectives and about the monitor itself are not in the configuration.
            self.alerts[name] =
                alerts[name].map { AlertFacts($0) } ?? json["facts"]?[name].flatMap { AlertFacts(saved: $0) }
        }
        if case .array(let saved)? = json["changes"] {
            changes = saved.prefix(Self.mostChanges).compactMap { IncidentChange($0) }
        }
        if case .bool(true)? = json["ownNetwork"] { isOwnNetwork = true }
        if case .bool(true)? = json["news"] { hasNews = true }
        reopenings = max(0, json["reopenings"]?.int ?? 0)
        pastMilliseconds = max(0, json["past"]?.int ?? 0)
        escalations = min(max(0, json["escalations"]?.int ?? 0), 1_000)
        rounds = min(max(0, json["rounds"]?.int ?? 0), 1_000_000)
        toldReceivers = Set(json["told"]?.strings ?? [])
        (lastMessage, messageDeadline) = (instant("lastMessage"), instant("message"))
        (closeDeadline, unattendedSince) = (instant("close"), instant("unattended"))
        // Files of earlier versions do not say which streams the messages have listed.
        if !toldReceivers.isEmpty, !hasNews, saved.allSatisfy({ $0["told"] == nil }) { markTold() }
        guard case .array(let entries)? = json["log"] else { return }
        for entry in entries.suffix(Self.mostLogEntries) {
            guard let time = entry["time"]?.int, let kind = entry["kind"]?.string, let text = entry["text"]?.string
            else { continue }
            log.append(LogEntry(time: WallTime(milliseconds: Int64(time)), kind: kind, text: text))
        }
    }
}

extension Incident.AlertFacts {
    var saved: JSONValue {
        [
            "condition": .string(condition), "severity": .string(severity.rawValue),
            "receivers": .array(receivers.map { .string($0) }),
        ]
    }

    /// Reads ``saved``; nil for another form.
    init?(saved json: JSONValue) {
        guard let severity = json["severity"]?.string.flatMap({ AlertSeverity(rawValue: $0) }),
            let receivers = json["receivers"]?.strings
        else { return nil }
        self.init(condition: json["condition"]?.string ?? "", receivers: receivers, severity: severity)
    }
}

extension Incident.Member {
    var saved: JSONValue {
        var members: [String: JSONValue] = [
            "stream": .string(stream), "since": .int(Int(since.wallTime.milliseconds)),
            "alerts": .array(alerts.sorted().map { .string($0) }),
        ]
        members["ended"] = ended.map { .int(Int($0.milliseconds)) }
        members["value"] = value.flatMap { $0.isFinite ? .double($0) : nil }
        members["told"] = .bool(isTold)
        if !isStream { members["own"] = true }
        // What takes the place of a stream has no entry in the configuration.
        if host.isEmpty, !labels.isEmpty { members["labels"] = .object(labels.mapValues { .string($0) }) }
        return .object(members)
    }

    init?(saved json: JSONValue, streams: [String: WatchedStream], at now: Timestamp) {
        guard let stream = json["stream"]?.string, let since = json["since"]?.int else { return nil }
        let known = streams[stream]
        var labels = known?.labels
        if known == nil, case .object(let saved)? = json["labels"] { labels = saved.compactMapValues(\.string) }
        self.init(
            stream: stream,
            address: known?.url.description ?? "",
            host: known?.url.host ?? "",
            labels: labels ?? [:],
            alerts: Set(json["alerts"]?.strings ?? []),
            since: now.timestamp(of: WallTime(milliseconds: Int64(since))),
            ended: json["ended"]?.int.map { WallTime(milliseconds: Int64($0)) },
            origin: known?.origin
        )
        value = json["value"]?.number
        if case .bool(true)? = json["told"] { isTold = true }
        // Files of earlier versions name labels only of what takes the place of a stream.
        if json["own"] == .bool(true) || json["labels"] != nil { isStream = false }
    }
}

extension JSONValue {
    /// The texts of a list.
    var strings: [String]? {
        if case .array(let list) = self { list.compactMap(\.string) } else { nil }
    }
}

extension Timestamp {
    /// The calendar time of an instant.
    func wallTime(of other: MonotonicInstant) -> WallTime {
        WallTime(milliseconds: wallTime.milliseconds.saturatingAdd(Int64(instant.milliseconds(to: other))))
    }

    /// The moment of a calendar time, as the calendar of now measures it.
    func timestamp(of time: WallTime) -> Timestamp {
        let offset = time.milliseconds.saturatingSubtract(wallTime.milliseconds)
        // A hundred years are enough, and no sum overflows.
        let bounded = min(max(offset, -3_155_760_000_000), 3_155_760_000_000)
        return Timestamp(instant: instant.advanced(by: .milliseconds(bounded)), wallTime: time)
    }
}
