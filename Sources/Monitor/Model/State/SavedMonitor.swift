package import Instrument
internal import InstrumentHTTP
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
    /// Takes what survives a restart of a stream that is down; nil for another one.
    fileprivate init?(_ state: StreamState, at now: Timestamp) {
        guard state.isUp == false else { return nil }
        self.init(
            stream: state.stream.name,
            since: state.stateSince ?? now.wallTime,
            cause: state.cause,
            error: state.lastFailure.map { .init(code: $0.code, message: $0.message, time: $0.time.wallTime) }
        )
    }

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

extension SavedMonitor {
    /// Takes the state to save.
    package init(of model: MonitorModel, at now: Timestamp) {
        self.init(saved: now.wallTime)
        for (key, instance) in model.engine.instances.sorted(by: {
            ($0.key.alert, $0.key.stream) < ($1.key.alert, $1.key.stream)
        }) {
            alerts.append(
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
        firings = model.engine.savedFirings(at: now)
        incidents = model.book.saved(at: now)
        places = Self.places(of: model)
        if !model.configuration.objectives.isEmpty { objectives = model.objectives.saved }
        let states = model.streams.order.compactMap { model.streams[$0] }
        down = states.compactMap { Down($0, at: now) }
        findings = states.flatMap { $0.checks.saved(of: $0.stream.name) }
        for (name, slot) in model.streams.slots {
            if let failures = model.streams[slot]?.failures, failures > 0 { self.failures[name] = failures }
        }
    }

    /// The streams of other monitors, which no configuration names; nil for a monitor that plays its streams.
    private static func places(of model: MonitorModel) -> JSONValue? {
        guard model.places != nil else { return nil }
        return .array(
            model.streams.order.compactMap { slot -> JSONValue? in
                guard let stream = model.streams[slot]?.stream, let origin = stream.origin else { return nil }
                return [
                    "stream": .string(origin.stream), "place": .string(origin.place),
                    "address": .string(stream.url.description),
                    "labels": .object(stream.labels.mapValues { .string($0) }),
                ]
            }
        )
    }
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
}
