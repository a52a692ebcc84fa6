package import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

extension MonitorModel {
    /// The streams for the dashboard and `top`; with `since`, those that changed after the revision.
    package func overview(_ facts: MonitorFacts, at now: Timestamp) -> JSONValue {
        [
            "time": .string(now.wallTime.rfc3339), "streams": .array(order.compactMap { streams[$0]?.row(at: now) }),
            "alerts": alertDocument, "backends": Self.ledgers(facts), "monitor": monitorDocument(at: now.instant),
            "undelivered": .array(undelivered.map(\.json)),
        ]
    }

    /// The rows of some streams, with alerts, ledgers and figures of the monitor: one update of the dashboard.
    package func update(_ names: Set<Int>, _ facts: MonitorFacts, at now: Timestamp) -> JSONValue {
        [
            "time": .string(now.wallTime.rfc3339),
            "streams": .array(order.filter(names.contains).compactMap { streams[$0]?.row(at: now) }),
            "names": .int(order.count), "alerts": alertDocument, "backends": Self.ledgers(facts),
            "monitor": monitorDocument(at: now.instant), "undelivered": .array(undelivered.map(\.json)),
        ]
    }

    /// One stream with its timeline; nil for an unknown name.
    package func detail(of name: String, at now: Timestamp) -> JSONValue? {
        guard let state = stream(named: name) else { return nil }
        guard case .object(var members) = state.row(at: now) else { return nil }
        members["log"] = .array(
            state.log.latest.map {
                ["time": .string($0.time.rfc3339), "kind": .string($0.kind), "text": .string($0.text)]
            }
        )
        members["requests"] = .array(state.requests.latest.map(\.json))
        members["minutes"] = .array(state.chart.minutes.map(\.json))
        members["quarters"] = .array(state.chart.quarters.map(\.json))
        members["checks"] = .array(
            state.checks.sorted { $0.key < $1.key }.map { rule, check in
                [
                    "rule": .string(rule), "broken": .bool(check.isBroken), "count": .int(check.count),
                    "since": .string(check.since.wallTime.rfc3339), "message": .string(check.message),
                ]
            }
        )
        return .object(members)
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
        [
            "streams": .int(order.count), "sessions": .int(runningCount), "reloads": .int(reloads),
            "configurationValid": .bool(!latestReloadFailed), "delayedStarts": .int(delayedStarts),
            "delay": .int(delays.longest(at: now).milliseconds),
        ]
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
            "name": .string(stream.name), "state": .string(stateName(at: now.instant)),
            "up": isUp.map { .bool($0) } ?? .null, "labels": .object(stream.labels.mapValues { .string($0) }),
            "startup": figures.startup.map { .int($0) } ?? .null, "rebuffers": .int(totals.rebuffers),
            "rebuffering": .int(totals.rebuffering), "playing": .int(totals.playing),
            "rebufferRatio": whole > 0 ? .double(Double(totals.rebuffering) / Double(whole)) : .null,
            "errors": .int(totals.errorCount), "sessions": .int(totals.sessions), "failures": .int(failures),
            "broken": .array(checks.filter { $0.value.isBroken }.keys.sorted().map { .string($0) }),
            "spark": .array(chart.minutes.suffix(30).map { .int(Int($0.wasDown ? 0 : $0.bitrate)) }),
        ]
        if run != nil {
            row["bitrate"] = bitrate.map { .int($0) }
            row["latency"] = latency.map { .int($0.milliseconds) }
            row["buffer"] = buffered.map { .int($0.milliseconds) }
        }
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
}

extension LoggedRequest {
    fileprivate var json: JSONValue {
        [
            "time": .string(time.rfc3339), "kind": .string(request.kind),
            "status": request.status.map { .int($0) } ?? .null,
            "failed": .bool(request.isFailure), "ms": .int(request.total.milliseconds),
            "bytes": .int(request.byteCount),
        ]
    }
}

extension HistoryPoint {
    fileprivate var json: JSONValue {
        [
            "minute": .int(Int(minute)), "playing": .int(Int(playing)), "rebuffering": .int(Int(rebuffering)),
            "errors": .int(Int(errors)), "bitrate": .int(Int(bitrate)), "startup": .int(Int(startup)),
            "latency": .int(Int(latency)), "buffer": .int(Int(buffer)), "down": .bool(wasDown),
        ]
    }
}
