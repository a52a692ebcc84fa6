internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentWatch

/// The incidents, silences and the audit log in the state file. What the configuration has (labels, addresses,
/// receivers) is not saved.
extension IncidentBook {
    /// The state to save. Times are those of the calendar, because no instant survives its process.
    func saved(at now: Timestamp) -> JSONValue {
        [
            "incidents": .array(order.compactMap { incidents[$0] }.map { Self.saved($0, at: now) }),
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

    private static func saved(_ incident: Incident, at now: Timestamp) -> JSONValue {
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
            "told": .array(incident.toldReceivers.sorted().map { .string($0) }), "news": .bool(incident.hasNews),
            "labels": .object(incident.sharedLabels.mapValues { .string($0) }),
            "changes": .array(incident.changes.map(\.json)),
            "log": .array(
                incident.log.map {
                    ["time": .int(Int($0.time.milliseconds)), "kind": .string($0.kind), "text": .string($0.text)]
                }
            ),
        ]
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

extension Silence {
    fileprivate init?(saved json: JSONValue, at now: Timestamp) {
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
    fileprivate init?(
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
        streamCount = max(order.count, json["streamCount"]?.int ?? 0)
        if case .object(let labels)? = json["labels"] { sharedLabels = labels.compactMapValues(\.string) }
        for name in json["alerts"]?.strings ?? [] {
            guard let alert = alerts[name] else { continue }
            self.alerts[name] = AlertFacts(alert)
        }
        if case .array(let saved)? = json["changes"] {
            changes = saved.prefix(Self.mostChanges).compactMap { IncidentChange($0) }
        }
        if case .bool(true)? = json["ownNetwork"] { isOwnNetwork = true }
        if case .bool(true)? = json["news"] { hasNews = true }
        reopenings = max(0, json["reopenings"]?.int ?? 0)
        pastMilliseconds = max(0, json["past"]?.int ?? 0)
        escalations = min(max(0, json["escalations"]?.int ?? 0), 1_000)
        toldReceivers = Set(json["told"]?.strings ?? [])
        (lastMessage, messageDeadline) = (instant("lastMessage"), instant("message"))
        (closeDeadline, unattendedSince) = (instant("close"), instant("unattended"))
        guard case .array(let entries)? = json["log"] else { return }
        for entry in entries.suffix(Self.mostLogEntries) {
            guard let time = entry["time"]?.int, let kind = entry["kind"]?.string, let text = entry["text"]?.string
            else { continue }
            log.append(LogEntry(time: WallTime(milliseconds: Int64(time)), kind: kind, text: text))
        }
    }
}

extension Incident.Member {
    fileprivate var saved: JSONValue {
        var members: [String: JSONValue] = [
            "stream": .string(stream), "since": .int(Int(since.wallTime.milliseconds)),
            "alerts": .array(alerts.sorted().map { .string($0) }),
        ]
        members["ended"] = ended.map { .int(Int($0.milliseconds)) }
        members["value"] = value.flatMap { $0.isFinite ? .double($0) : nil }
        return .object(members)
    }

    fileprivate init?(saved json: JSONValue, streams: [String: WatchedStream], at now: Timestamp) {
        guard let stream = json["stream"]?.string, let since = json["since"]?.int else { return nil }
        let known = streams[stream]
        self.init(
            stream: stream,
            address: known?.url.description ?? "",
            host: known?.url.host ?? "",
            labels: known?.labels ?? [:],
            alerts: Set(json["alerts"]?.strings ?? []),
            since: now.timestamp(of: WallTime(milliseconds: Int64(since))),
            ended: json["ended"]?.int.map { WallTime(milliseconds: Int64($0)) },
            origin: known?.origin
        )
        if case .double(let value)? = json["value"] { self.value = value }
    }
}

extension JSONValue {
    /// The texts of a list.
    fileprivate var strings: [String]? {
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
