package import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

extension MonitorModel {
    /// The streams for the dashboard and `top`; with `since`, those that changed after the revision.
    package func overview(_ facts: MonitorFacts, at now: Timestamp) -> JSONValue {
        withSums(
            at: now,
            [
                "time": .string(now.wallTime.rfc3339),
                "streams": .array(order.compactMap { streams[$0].map { StreamRow($0, at: now).json } }),
                "alerts": alertDocument, "backends": Self.ledgers(facts), "monitor": monitorDocument(at: now.instant),
                "incidents": incidentDocument(at: now), "silences": book.silenceDocument,
                "maintenance": book.maintenanceDocument(at: now.wallTime),
                "objectives": objectives.document(configuration.objectives, at: historyTime(at: now)),
                "undelivered": .array(undelivered.map(\.json)),
            ]
        )
    }

    /// The share of all streams on the day of `now`.
    package func upToday(at now: WallTime) -> Double? {
        var sum = DayShare()
        for slot in order { if let state = streams[slot] { sum.add(state.history.today, at: now) } }
        return sum.value
    }

    /// The document with what has no value at times: the places, and the share of the day in which streams were up.
    private func withSums(at now: Timestamp, _ members: [String: JSONValue]) -> JSONValue {
        var members = members
        (members["places"], members["source"]) = (placeDocument(at: now), sourceDocument)
        members["upToday"] = upToday(at: now.wallTime).map { .double($0) }
        return .object(members)
    }

    /// The rows of some streams, with alerts, ledgers and figures of the monitor: one update of the dashboard.
    package func update(_ names: Set<Int>, _ facts: MonitorFacts, at now: Timestamp) -> JSONValue {
        withSums(
            at: now,
            [
                "time": .string(now.wallTime.rfc3339),
                "streams": .array(
                    order.filter(names.contains).compactMap { streams[$0].map { StreamRow($0, at: now).json } }
                ),
                "names": .int(order.count), "alerts": alertDocument, "backends": Self.ledgers(facts),
                "monitor": monitorDocument(at: now.instant), "incidents": incidentDocument(at: now),
                "silences": book.silenceDocument, "maintenance": book.maintenanceDocument(at: now.wallTime),
                "objectives": objectives.document(configuration.objectives, at: historyTime(at: now)),
                "undelivered": .array(undelivered.map(\.json)),
            ]
        )
    }

    /// One stream with its timeline; nil for an unknown name.
    /// - Parameters:
    ///   - minutes: the number of minutes of the history.
    ///   - quarters: the number of quarters of an hour.
    package func detail(
        of name: String,
        minutes: Int = 60,
        quarters: Int = 96,
        at now: Timestamp
    ) -> JSONValue? {
        guard let state = stream(named: name) else { return nil }
        guard case .object(var members) = StreamRow(state, at: now).json else { return nil }
        members["log"] = .array(
            state.log.latest.map(\.json)
        )
        members["requests"] = .array(state.requests.latest.map(\.json))
        members["evidence"] = .array(evidence.latestRequests(of: name).map { [$0.document] } ?? [])
        members["hiding"] = book.hidingDocument(of: state.stream, at: now)
        members["upToday"] = state.history.today.value(at: now.wallTime).map { .double($0) }
        members["checking"] = checking[state.slot] == nil ? nil : .bool(true)
        members["minutes"] = .array(state.history.chart.minutes(minutes).map(\.json))
        members["quarters"] = .array(state.history.chart.quarters(quarters).map(\.json))
        members["checks"] = .array(
            state.checks.all.map { rule, check in
                [
                    "rule": .string(rule), "broken": .bool(check.isBroken), "count": .int(check.count),
                    "since": .string(check.since.wallTime.rfc3339), "message": .string(check.message),
                    "evidence": .array(evidence.latest(of: name, rule: rule).map(\.document)),
                ]
            }
        )
        return .object(members)
    }

    /// The incidents for the page, each with the evidence of streams that fail.
    package func incidentDocument(at now: Timestamp) -> JSONValue {
        book.document(at: now, evidence: evidence.documents)
    }

    /// One incident with its log and its streams; nil for an unknown identifier.
    package func detail(ofIncident id: String, at now: Timestamp) -> JSONValue? {
        book.detail(of: id, at: now, evidence: evidence.documents)
    }

    /// The requests of a stream as an HTTP Archive (HAR 1.2): those before its latest cause began, which are a piece of
    /// evidence, else its latest ones; nil for an unknown name.
    package func archive(of name: String) -> RequestArchive? {
        guard let state = stream(named: name) else { return nil }
        if let entry = evidence.latestRequests(of: name) { return .kept(id: entry.id) }
        return .latest(LoggedRequest.archive(Array(state.requests.latest)))
    }

    /// The revision of each stream, by slot.
    package var revisions: [Int: Int] { streams.mapValues(\.revision) }

    private var alertDocument: JSONValue {
        .array(
            alerts.prefix(1_000).map { alert in
                [
                    "alert": .string(alert.alert), "stream": .string(alert.stream), "firing": .bool(alert.isFiring),
                    "since": .string(alert.since.rfc3339), "reason": .string(alert.reason),
                    "value": alert.value.flatMap { $0.isFinite ? JSONValue.double($0) : nil } ?? .null,
                    "flapping": .bool(alert.isFlapping),
                ]
            }
        )
    }

    private func monitorDocument(at now: MonotonicInstant) -> JSONValue {
        var document: [String: JSONValue] = [
            "streams": .int(order.count), "sessions": .int(runningCount), "reloads": .int(reloads),
            "configurationValid": .bool(!latestReloadFailed), "delayedStarts": .int(delayedStarts),
            "delay": .int(delays.longest(at: now).milliseconds),
        ]
        document["configurationProblems"] = failedReload?.json
        document["configurationProblemCount"] = failedReload.map { .int($0.count) }
        return .object(document)
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
