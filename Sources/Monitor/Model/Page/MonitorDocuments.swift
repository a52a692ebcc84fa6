package import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// What the dashboard and `top` show, made from the monitor.
package struct MonitorDocuments: Sendable {
    private let model: MonitorModel
    private let now: Timestamp

    package init(of model: MonitorModel, at now: Timestamp) { (self.model, self.now) = (model, now) }

    // MARK: Streams

    /// The streams for the dashboard and `top`.
    package func overview(_ facts: MonitorFacts) -> JSONValue {
        var members = shared(facts)
        members["streams"] = rows(of: model.streams.order)
        return .object(members)
    }

    /// The rows of some streams, with alerts, ledgers and figures of the monitor: one update of the dashboard.
    package func update(_ slots: Set<Int>, _ facts: MonitorFacts) -> JSONValue {
        var members = shared(facts)
        members["streams"] = rows(of: model.streams.order.filter(slots.contains))
        members["names"] = .int(model.streams.order.count)
        return .object(members)
    }

    private func rows(of slots: [Int]) -> JSONValue {
        .array(slots.compactMap { model.streams[$0].map { StreamRow($0, at: now).json } })
    }

    /// What a page has beside the streams.
    private func shared(_ facts: MonitorFacts) -> [String: JSONValue] {
        let budgets = model.objectives.document(model.configuration.objectives, at: model.historyTime(at: now))
        var members: [String: JSONValue] = [
            "time": .string(now.wallTime.rfc3339), "alerts": alerts, "backends": Self.ledgers(facts),
            "monitor": monitor, "incidents": incidents, "silences": model.book.silenceDocument,
            "maintenance": model.book.maintenanceDocument(at: now.wallTime), "objectives": budgets,
            "undelivered": .array(model.undelivered.map(\.json)),
        ]
        // What has no value at times.
        (members["places"], members["source"]) = (places, model.places?.sourceDocument)
        members["upToday"] = upToday.map { .double($0) }
        return members
    }

    /// The share of the day of now in which the streams were up.
    package var upToday: Double? {
        var sum = DayShare()
        for slot in model.streams.order {
            if let state = model.streams[slot] { sum.add(state.history.today, at: now.wallTime) }
        }
        return sum.value
    }

    /// One stream with its timeline; nil for an unknown name.
    /// - Parameters:
    ///   - minutes: the number of minutes of the history.
    ///   - quarters: the number of quarters of an hour.
    package func detail(of name: String, minutes: Int = 60, quarters: Int = 96) -> JSONValue? {
        guard let state = model.stream(named: name), case .object(var members) = StreamRow(state, at: now).json else {
            return nil
        }
        let chart = state.history.chart
        members["log"] = .array(state.log.latest.map(\.json))
        members["requests"] = .array(state.requests.latest.map(\.json))
        members["evidence"] = .array(model.evidence.latestRequests(of: name).map { [$0.document] } ?? [])
        members["hiding"] = model.book.hidingDocument(of: state.stream, at: now)
        members["upToday"] = state.history.today.value(at: now.wallTime).map { .double($0) }
        members["checking"] = model.checks.isChecking(state.slot) ? .bool(true) : nil
        members["minutes"] = .array(chart.minutes(minutes).map(\.json))
        members["quarters"] = .array(chart.quarters(quarters).map(\.json))
        members["checks"] = .array(
            state.checks.all.map { rule, check in
                [
                    "rule": .string(rule), "broken": .bool(check.isBroken), "count": .int(check.count),
                    "since": .string(check.since.wallTime.rfc3339), "message": .string(check.message),
                    "evidence": .array(model.evidence.latest(of: name, rule: rule).map(\.document)),
                ]
            }
        )
        return .object(members)
    }

    /// The requests of a stream as an HTTP Archive (HAR 1.2): those before its latest cause began, which are a piece of
    /// evidence, else its latest ones; nil for an unknown name.
    package func archive(of name: String) -> RequestArchive? {
        guard let state = model.stream(named: name) else { return nil }
        if let entry = model.evidence.latestRequests(of: name) { return .kept(id: entry.id) }
        return .latest(LoggedRequest.archive(Array(state.requests.latest)))
    }

    // MARK: Incidents

    /// The incidents, each with the evidence of streams that fail.
    package var incidents: JSONValue { model.book.document(at: now, evidence: model.evidence.documents) }

    /// One incident with its log and its streams; nil for an unknown identifier.
    package func detail(ofIncident id: String) -> JSONValue? {
        model.book.detail(of: id, at: now, evidence: model.evidence.documents)
    }

    private var alerts: JSONValue {
        .array(
            model.alerts.prefix(1_000).map { alert in
                [
                    "alert": .string(alert.alert), "stream": .string(alert.stream), "firing": .bool(alert.isFiring),
                    "since": .string(alert.since.rfc3339), "reason": .string(alert.reason),
                    "value": alert.value.flatMap { $0.isFinite ? JSONValue.double($0) : nil } ?? .null,
                    "flapping": .bool(alert.isFlapping),
                ]
            }
        )
    }

    // MARK: The monitor

    private var monitor: JSONValue {
        var document: [String: JSONValue] = [
            "streams": .int(model.streams.order.count), "sessions": .int(model.sessions.running),
            "reloads": .int(model.reloads.count),
            "configurationValid": .bool(model.reloads.failure == nil),
            "delayedStarts": .int(model.sessions.delayedStarts),
            "delay": .int(model.delays.longest(at: now.instant).milliseconds),
        ]
        document["configurationProblems"] = model.reloads.failure?.json
        document["configurationProblemCount"] = model.reloads.failure.map { .int($0.count) }
        return .object(document)
    }

    /// The places; nil for a monitor that plays its streams.
    private var places: JSONValue? {
        guard let places = model.places else { return nil }
        let list = places.places.sorted { $0.key < $1.key }.map { name, place -> JSONValue in
            let states = place.slots.compactMap { model.streams[$0] }
            return [
                "name": .string(StreamOrigin.name(of: name)), "state": place.isSilent ? "silent" : "reports",
                "latest": .string(place.latest.wallTime.rfc3339), "streams": .int(states.count),
                "down": .int(states.count { $0.isUp == false }), "samples": .int(place.samples),
                "refused": PlaceBook.document(of: place.refused),
            ]
        }
        return .array(list)
    }

    private static func ledgers(_ facts: MonitorFacts) -> JSONValue {
        .array(
            facts.ledgers.map { name, ledger in
                [
                    "name": .string(name), "emitted": .int(ledger.emitted), "acknowledged": .int(ledger.acknowledged),
                    "queued": .int(ledger.queued), "dead": .int(ledger.dead), "dropped": .int(ledger.dropped),
                ]
            }
        )
    }
}

extension LoggedRequest {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "time": .string(time.rfc3339), "kind": .string(request.kind),
            "status": request.status.map { .int($0) } ?? .null,
            "failed": .bool(request.isFailure), "ms": .int(request.total.milliseconds),
            "bytes": .int(request.byteCount),
        ]
        members["begin"] = request.begin.map { .string($0.wallTime.rfc3339) }
        members["address"] = request.address.map { .string($0) }
        members["wait"] = request.wait.map { .int($0.milliseconds) }
        members["failure"] = request.failure.map { .string($0.rawValue) }
        return .object(members)
    }
}

extension HistoryPoint {
    fileprivate var json: JSONValue {
        [
            "minute": .int(Int(minute)), "playing": .int(Int(playing)), "rebuffering": .int(Int(rebuffering)),
            "errors": .int(Int(errors)), "bitrate": .int(Int(bitrate)), "startup": .int(Int(startup)),
            "latency": .int(Int(latency)), "buffer": .int(Int(buffer)), "down": .bool(wasDown),
            "impaired": .bool(wasImpaired),
        ]
    }
}
