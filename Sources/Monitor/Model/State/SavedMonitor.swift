package import Instrument
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// The part of the monitor that survives a restart: the states of alerts, when they fired recently, incidents with
/// silences and the audit log, and the failures that decide the back-off.
package struct SavedMonitor: Hashable, Sendable {
    package struct Alert: Hashable, Sendable {
        var alert: String
        var stream: String
        var state: String
        var since: WallTime
        var isNotified: Bool
        var reason: String
        var value: Double?
    }

    /// When an alert fired within the last hour, which decides whether it is flapping.
    package struct Firings: Hashable, Sendable {
        var alert: String
        var stream: String
        var times: [WallTime]
    }

    /// A stream that was down.
    package struct Down: Hashable, Sendable {
        var stream: String
        /// Since when.
        var since: WallTime
        var cause: StreamCause?
        var error: Failure?

        struct Failure: Hashable, Sendable {
            var code: String
            var message: String
            var time: WallTime
        }
    }

    /// A finding of a check.
    package struct Finding: Hashable, Sendable {
        var stream: String
        var rule: String
        var isBroken: Bool
        var since: WallTime
        var count: Int
        var message: String
    }

    package var saved: WallTime
    /// The findings of checks; none in the files of earlier versions.
    package var findings: [Finding] = []
    package var down: [Down] = []
    package var firings: [Firings] = []
    package var alerts: [Alert] = []
    package var failures: [String: Int] = [:]
    /// Incidents, silences and the audit log; nil in the files of earlier versions.
    package var incidents: JSONValue?
    /// The streams of other monitors; nil for a monitor that plays its streams.
    package var places: JSONValue?
    /// The budgets of objectives; nil in the files of earlier versions.
    package var objectives: JSONValue?

    init(saved: WallTime) { self.saved = saved }

    /// Reads ``bytes``; nil for bytes of another format.
    package init?(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), json["version"] == 1, let saved = json["saved"]?.int,
            case .array(let alerts)? = json["alerts"], case .object(let failures)? = json["failures"]
        else { return nil }
        self.saved = WallTime(milliseconds: Int64(saved))
        for alert in alerts.prefix(1_000_000) {
            guard let name = alert["alert"]?.string, let stream = alert["stream"]?.string,
                let state = alert["state"]?.string, ["pending", "firing", "resolved"].contains(state),
                let since = alert["since"]?.int, case .bool(let isNotified)? = alert["notified"]
            else { continue }
            var value: Double?
            if case .double(let number)? = alert["value"] { value = number }
            self.alerts.append(
                Alert(
                    alert: name,
                    stream: stream,
                    state: state,
                    since: WallTime(milliseconds: Int64(since)),
                    isNotified: isNotified,
                    reason: alert["reason"]?.string ?? "",
                    value: value
                )
            )
        }
        (incidents, objectives, places) = (json["incidents"], json["objectives"], json["places"])
        if case .array(let findings)? = json["findings"] {
            self.findings = findings.prefix(1_000_000).compactMap { Finding($0) }
        }
        // Files of the first versions have none.
        if case .array(let down)? = json["down"] { self.down = down.prefix(1_000_000).compactMap { Down($0) } }
        for (name, count) in failures { self.failures[name] = min(max(0, count.int ?? 0), 1_000) }
        guard case .array(let firings)? = json["firings"] else { return }
        for entry in firings.prefix(1_000_000) {
            guard let alert = entry["alert"]?.string, let stream = entry["stream"]?.string,
                case .array(let times)? = entry["times"]
            else { continue }
            let known = times.suffix(AlertEngine.mostFirings + 1).compactMap(\.int)
            self.firings.append(
                Firings(alert: alert, stream: stream, times: known.map { WallTime(milliseconds: Int64($0)) })
            )
        }
    }

    package var bytes: [UInt8] {
        let alerts = alerts.map { alert -> JSONValue in
            [
                "alert": .string(alert.alert), "stream": .string(alert.stream), "state": .string(alert.state),
                "since": .int(Int(alert.since.milliseconds)), "notified": .bool(alert.isNotified),
                "reason": .string(alert.reason),
                "value": alert.value.flatMap { $0.isFinite ? JSONValue.double($0) : nil } ?? .null,
            ]
        }
        let firings = firings.map { firings -> JSONValue in
            [
                "alert": .string(firings.alert), "stream": .string(firings.stream),
                "times": .array(firings.times.map { .int(Int($0.milliseconds)) }),
            ]
        }
        var json: [String: JSONValue] = [
            "version": 1, "saved": .int(Int(saved.milliseconds)), "alerts": .array(alerts),
            "failures": .object(failures.mapValues { .int($0) }), "firings": .array(firings),
            "down": .array(down.map(\.json)), "findings": .array(findings.map(\.json)),
        ]
        json["incidents"] = incidents
        json["objectives"] = objectives
        json["places"] = places
        return JSONValue.object(json).bytes
    }
}

extension SavedMonitor.Down {
    fileprivate init?(_ json: JSONValue) {
        guard let stream = json["stream"]?.string, let since = json["since"]?.int else { return nil }
        (self.stream, self.since) = (stream, WallTime(milliseconds: Int64(since)))
        cause = json["cause"].flatMap { StreamCause($0) }
        if let code = json["error"]?["code"]?.string, let time = json["error"]?["time"]?.int {
            let message = json["error"]?["message"]?.string ?? ""
            error = Failure(code: code, message: message, time: WallTime(milliseconds: Int64(time)))
        }
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "stream": .string(stream), "since": .int(Int(since.milliseconds)),
        ]
        members["cause"] = cause?.json
        members["error"] = error.map {
            ["code": .string($0.code), "message": .string($0.message), "time": .int(Int($0.time.milliseconds))]
        }
        return .object(members)
    }
}

extension SavedMonitor.Finding {
    fileprivate init?(_ json: JSONValue) {
        guard let stream = json["stream"]?.string, let rule = json["rule"]?.string,
            case .bool(let isBroken)? = json["broken"], let since = json["since"]?.int
        else { return nil }
        (self.stream, self.rule, self.isBroken) = (stream, rule, isBroken)
        (self.since, count) = (WallTime(milliseconds: Int64(since)), max(0, json["count"]?.int ?? 0))
        message = String((json["message"]?.string ?? "").prefix(400))
    }

    fileprivate var json: JSONValue {
        [
            "stream": .string(stream), "rule": .string(rule), "broken": .bool(isBroken),
            "since": .int(Int(since.milliseconds)), "count": .int(count), "message": .string(message),
        ]
    }
}

extension StreamState {
    /// What survives a restart of a stream that is down; nil for another one.
    fileprivate func savedDown(at now: Timestamp) -> SavedMonitor.Down? {
        guard isUp == false else { return nil }
        return SavedMonitor.Down(
            stream: stream.name,
            since: stateSince ?? now.wallTime,
            cause: cause,
            error: lastFailure.map { .init(code: $0.code, message: $0.message, time: $0.time.wallTime) }
        )
    }

    /// Shows the stream as down from the start, as an earlier process saw it.
    fileprivate mutating func restore(_ down: SavedMonitor.Down, at now: Timestamp) {
        isUp = false
        (settledWord, stateSince) = (.down, down.since)
        diagnosis.restore(down.cause, since: now.at(down.since))
        lastFailure = down.error.map { Failure(code: $0.code, message: $0.message, time: now.at($0.time)) }
    }
}

extension MonitorModel {
    /// The state to save.
    package func saved(at now: Timestamp) -> SavedMonitor {
        var saved = SavedMonitor(saved: now.wallTime)
        for (key, instance) in engine.instances.sorted(by: {
            ($0.key.alert, $0.key.stream) < ($1.key.alert, $1.key.stream)
        }) {
            saved.alerts.append(
                SavedMonitor.Alert(
                    alert: key.alert,
                    stream: key.stream,
                    state: "\(instance.state)",
                    since: instance.since.wallTime,
                    isNotified: instance.state == .firing,
                    reason: instance.reason,
                    value: instance.value
                )
            )
        }
        saved.firings = engine.savedFirings(at: now)
        saved.incidents = book.saved(at: now)
        saved.places = savedPlaces
        if !configuration.objectives.isEmpty { saved.objectives = objectives.saved }
        saved.down = order.compactMap { streams[$0]?.savedDown(at: now) }
        saved.findings = order.flatMap { streams[$0].map { $0.checks.saved(of: $0.stream.name) } ?? [] }
        for (name, slot) in slots {
            if let failures = streams[slot]?.failures, failures > 0 { saved.failures[name] = failures }
        }
        return saved
    }

    mutating func restore(_ saved: SavedMonitor, at now: Timestamp) {
        let alerts = Dictionary(configuration.alerts.map { ($0.name, $0) }) { first, _ in first }
        for entry in saved.alerts {
            guard let alert = alerts[entry.alert], let slot = slots[entry.stream], let stream = streams[slot]?.stream
            else {
                continue
            }
            // Nobody has looked since the state was saved: that time does not count towards the delay of an alert.
            let held = max(0, saved.saved.milliseconds.saturatingSubtract(entry.since.milliseconds))
            let since = Timestamp(instant: now.instant.advanced(by: .milliseconds(-held)), wallTime: entry.since)
            engine.restore(entry, alert, stream, since: since)
        }
        for down in saved.down { if let slot = slots[down.stream] { change(slot) { $0.restore(down, at: now) } } }
        for finding in saved.findings {
            guard let slot = slots[finding.stream] else { continue }
            // The configuration may no longer look for it.
            change(slot) { if $0.stream.checks.looks(for: finding.rule) { $0.checks.restore(finding, at: now) } }
        }
        if let budgets = saved.objectives {
            objectives.restore(budgets, configuration.objectives)
            // A wall clock that is behind that of the earlier process moves the budgets back.
            let ahead = (objectives.latestMinute ?? .min).saturatingSubtract(
                Int(clamping: now.wallTime.milliseconds / 60_000)
            )
            if ahead > HistoryClock.leastAhead {
                objectives.move(byMinutes: -ahead)
                historyClock.noteRestored(movedBack: ahead)
            }
        }
        restoreIncidents(saved, at: now)
        for entry in saved.firings where alerts[entry.alert] != nil && slots[entry.stream] != nil {
            engine.restore(entry, at: now)
        }
        for (name, count) in saved.failures { if let slot = slots[name] { change(slot) { $0.failures = count } } }
    }

    /// Restores the incidents; those of alerts that fire and have none are made again.
    private mutating func restoreIncidents(_ saved: SavedMonitor, at now: Timestamp) {
        let streams = Dictionary(streams.values.map { ($0.stream.name, $0.stream) }) { first, _ in first }
        if let incidents = saved.incidents { hasDamagedIncidents = !book.restore(incidents, streams: streams, at: now) }
        let isOld = saved.incidents == nil || hasDamagedIncidents
        let told = Set(
            saved.alerts.lazy.filter(\.isNotified).map { AlertEngine.Key(alert: $0.alert, stream: $0.stream) }
        )
        let instances = engine.instances.sorted { ($0.key.stream, $0.key.alert) < ($1.key.stream, $1.key.alert) }
        for (key, instance) in instances
        where instance.state == .firing && !book.has(key.alert, of: key.stream) {
            // Somebody closed the incident of this alert: it stays closed until the alert fires again.
            guard isOld else { continue }
            let signal = IncidentSignal(
                instance.alert,
                instance.stream,
                cause: stream(named: key.stream)?.cause,
                reason: instance.reason,
                since: instance.since,
                value: instance.value
            )
            book.fires(signal, at: now)
            if told.contains(key) { book.assumeTold(instance.alert, key.stream, at: now) }
        }
        receivers.restore(book.open, Set(configuration.receivers.keys), at: now)
        for key in book.activeAlerts
        where engine.instances[key]?.state != .firing && !receivers.isReported(key.alert, key.stream)
            && !objectives.isFiring(key.alert, of: key.stream, configuration.objectives)
        {
            // Alerts about the monitor itself have no stream, either.
            let isWatched = slots[key.stream] != nil || !configuration.alerts.contains { $0.name == key.alert }
            book.resolves(key.alert, of: key.stream, isWatched: isWatched, at: now)
        }
    }
}

extension Timestamp {
    /// The instant of an earlier calendar time. The calendar measures the time in which no process ran; a calendar that
    /// went back counts as no time.
    fileprivate func instant(of time: WallTime) -> MonotonicInstant {
        instant.advanced(by: .milliseconds(-max(0, wallTime.milliseconds.saturatingSubtract(time.milliseconds))))
    }

    /// The earlier time with its instant.
    func at(_ time: WallTime) -> Timestamp { Timestamp(instant: instant(of: time), wallTime: time) }
}

extension AlertEngine {
    /// When alerts fired within the last hour, in a fixed order.
    fileprivate func savedFirings(at now: Timestamp) -> [SavedMonitor.Firings] {
        firings.compactMap { key, instants in
            let ages = instants.map { $0.milliseconds(to: now.instant) }
                .filter { .milliseconds($0) < Self.flapWindow }
            let times = ages.map { WallTime(milliseconds: now.wallTime.milliseconds &- Int64($0)) }
            return times.isEmpty ? nil : SavedMonitor.Firings(alert: key.alert, stream: key.stream, times: times)
        }.sorted { ($0.alert, $0.stream) < ($1.alert, $1.stream) }
    }

    fileprivate mutating func restore(_ entry: SavedMonitor.Firings, at now: Timestamp) {
        let instants = entry.times.map { now.instant(of: $0) }.filter { $0.duration(to: now.instant) < Self.flapWindow }
        if !instants.isEmpty { firings[Key(alert: entry.alert, stream: entry.stream)] = instants.sorted() }
    }

    /// Restores an alert.
    mutating func restore(
        _ entry: SavedMonitor.Alert,
        _ alert: AlertConfiguration,
        _ stream: WatchedStream,
        since: Timestamp
    ) {
        // Earlier versions saved a state for alerts that are resolved: their incident closes.
        guard entry.state != "resolved" else { return }
        let key = Key(alert: alert.name, stream: stream.name)
        var instance = Instance(alert: alert, stream: stream, since: since, value: entry.value, reason: entry.reason)
        instance.state = entry.state == "pending" ? .pending : .firing
        instances[key] = instance
    }
}
