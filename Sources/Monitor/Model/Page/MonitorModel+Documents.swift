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
                "streams": .array(order.compactMap { streams[$0]?.row(at: now) }),
                "alerts": alertDocument, "backends": Self.ledgers(facts), "monitor": monitorDocument(at: now.instant),
                "incidents": incidentDocument(at: now), "silences": book.silenceDocument,
                "maintenance": book.maintenanceDocument(at: now.wallTime),
                "objectives": objectives.document(configuration.objectives, at: historyTime(at: now)),
                "undelivered": .array(undelivered.map(\.json)),
            ]
        )
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
                "streams": .array(order.filter(names.contains).compactMap { streams[$0]?.row(at: now) }),
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
        guard case .object(var members) = state.row(at: now) else { return nil }
        members["log"] = .array(
            state.log.latest.map(\.json)
        )
        members["requests"] = .array(state.requests.latest.map(\.json))
        members["evidence"] = .array(requestEvidence.entries(of: name).suffix(1).map(\.document))
        members["hiding"] = book.hidingDocument(of: state.stream, at: now)
        members["upToday"] = state.today.value(at: now.wallTime).map { .double($0) }
        members["checking"] = checking[state.slot] == nil ? nil : .bool(true)
        members["minutes"] = .array(state.chart.minutes(minutes).map(\.json))
        members["quarters"] = .array(state.chart.quarters(quarters).map(\.json))
        members["checks"] = .array(
            state.checks.sorted { $0.key < $1.key }.map { rule, check in
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
    package func incidentDocument(at now: Timestamp) -> JSONValue { book.document(at: now, evidence: documents) }

    /// One incident with its log and its streams; nil for an unknown identifier.
    package func detail(ofIncident id: String, at now: Timestamp) -> JSONValue? {
        book.detail(of: id, at: now, evidence: documents)
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

extension StreamState {
    /// The stream as one row of a table.
    func row(at now: Timestamp) -> JSONValue {
        let figures = figures(at: now.instant)
        let totals = totals(at: now.instant)
        let whole = totals.playing + totals.rebuffering
        var row: [String: JSONValue] = [
            "name": .string(stream.name), "state": .string(word.rawValue), "address": .string(stream.url.description),
            "up": isUp.map { .bool($0) } ?? .null, "labels": .object(stream.labels.mapValues { .string($0) }),
            "startup": figures.startup.map { .int($0) } ?? .null, "rebuffers": .int(totals.rebuffers),
            "rebuffering": .int(totals.rebuffering), "playing": .int(totals.playing),
            "rebufferRatio": whole > 0 ? .double(Double(totals.rebuffering) / Double(whole)) : .null,
            "errors": .int(totals.errorCount), "sessions": .int(totals.sessions), "failures": .int(failures),
            "broken": .array(checks.filter { $0.value.isBroken }.keys.sorted().map { .string($0) }),
            "bars": .array(bars(at: now.wallTime).map { .int($0) }),
        ]
        if run != nil {
            row["bitrate"] = bitrate.map { .int($0) }
            row["latency"] = latency.map { .int($0.milliseconds) }
            row["buffer"] = buffered.map { .int($0.milliseconds) }
        }
        row["place"] = stream.origin.map { .string(StreamOrigin.name(of: $0.place)) }
        row["origin"] = stream.origin.map { .string($0.stream) }
        row["cause"] = cause?.json
        row["stateSince"] = stateSince.map { .string($0.rfc3339) }
        row["nextTry"] = nextTry(at: now).map { .string($0.rfc3339) }
        row["loudness"] = loudness.map { .double($0) }
        row["age"] = playlistAge(at: now.instant).map { .int($0.milliseconds) }
        // A player that knows no title shows the name of the file, which is no news.
        let isFileName = title.map { stream.url.path.hasSuffix("/" + $0) } ?? false
        row["title"] = isFileName ? nil : title.map { .string($0) }
        row["error"] = lastFailure.map {
            ["code": .string($0.code), "message": .string($0.message), "time": .string($0.time.wallTime.rfc3339)]
        }
        return .object(row)
    }

    /// When the next session starts; nil while one runs.
    private func nextTry(at now: Timestamp) -> WallTime? {
        guard case .waiting(let until) = phase, until != .never else { return nil }
        return WallTime(milliseconds: now.wallTime.milliseconds + Int64(now.instant.milliseconds(to: until)))
    }

    /// One number for each of the last thirty minutes, the newest last: 0 nothing is known, 1 the stream played,
    /// 2 it was impaired, 3 it was down.
    func bars(at now: WallTime) -> [Int] {
        let latest = Int32(clamping: now.milliseconds / 60_000)
        var bars = [Int](repeating: 0, count: 30)
        for point in chart.minutes(bars.count) {
            let age = Int(latest - point.minute)
            guard bars.indices.contains(age) else { continue }
            bars[bars.count - 1 - age] = point.bar
        }
        return bars
    }
}

extension HistoryPoint {
    fileprivate var bar: Int {
        if wasDown { return 3 }
        if wasImpaired || rebuffering > 0 { return 2 }
        return playing > 0 ? 1 : 0
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
