package import Instrument
internal import InstrumentWatch

/// The page `/metrics`, made from the monitor.
package struct MonitorMetrics: Sendable {
    private let model: MonitorModel
    private let facts: MonitorFacts
    private let now: MonotonicInstant

    package init(of model: MonitorModel, _ facts: MonitorFacts, at now: MonotonicInstant) {
        (self.model, self.facts, self.now) = (model, facts, now)
    }

    package func bytes(_ format: MetricsWriter.Format) -> [UInt8] {
        var writer = MetricsWriter(format, capacity: 4_096 + 6_000 * model.streams.order.count)
        let shown = model.streams.order.compactMap { model.streams[$0] }
        writeStates(shown, to: &writer)
        writeSums(shown, to: &writer)
        writeRequests(shown, to: &writer)
        writeChecks(shown, to: &writer)
        writeAlerts(to: &writer)
        writeMonitor(to: &writer)
        if !facts.build.isEmpty {
            writer.begin(
                "instrument_build_info",
                .gauge,
                "Always 1; the labels are the version of the program and of the libraries that it runs with."
            )
            writer.sample(1, MetricsWriter.labels(facts.build.map { ($0.name, $0.value) }))
        }
        Self.write(facts.ledgers, to: &writer)
        model.receivers.write(model.configuration.receivers.keys.sorted(), to: &writer)
        model.places?.write(to: &writer)
        model.browser.write(model.configuration, to: &writer)
        if let process = facts.process { Self.write(process, to: &writer) }
        writer.finish()
        return writer.bytes
    }

    private func writeStates(_ shown: [StreamState], to writer: inout MetricsWriter) {
        writer.begin(
            "instrument_stream_up",
            .gauge,
            "1 if the stream shows a picture, 0 if its latest session failed or shows no picture; absent before the first result."
        )
        for state in shown { if let up = state.isUp { writer.sample(up ? 1 : 0, state.labelText) } }
        writer.begin(
            "instrument_stream_bitrate_bits_per_second",
            .gauge,
            "Bitrate of the rendition that plays; absent while no session plays."
        )
        for state in shown where state.run != nil {
            if let bitrate = state.bitrate { writer.sample(Double(bitrate), state.labelText) }
        }
        writer.begin(
            "instrument_stream_latency_seconds",
            .gauge,
            "Distance of the playhead from the live edge; absent for streams that are not live.",
            unit: "seconds"
        )
        for state in shown where state.run != nil {
            if let latency = state.latency { writer.sample(latency.seconds, state.labelText) }
        }
        writer.begin("instrument_stream_buffer_seconds", .gauge, "Media ahead of the playhead.", unit: "seconds")
        for state in shown where state.run != nil {
            if let buffered = state.buffered { writer.sample(buffered.seconds, state.labelText) }
        }
    }

    private func writeSums(_ shown: [StreamState], to writer: inout MetricsWriter) {
        let totals = shown.map { $0.totals(at: now) }
        writer.begin(
            "instrument_stream_startup_seconds",
            .histogram,
            "Time from the request to the first picture.",
            unit: "seconds"
        )
        for (state, total) in zip(shown, totals) { writer.histogram(total.startup, state.labelText) }
        let counters: [(String, String, String?, (StreamTotals) -> Double)] = [
            (
                "instrument_stream_rebuffer_seconds", "Time in stalls after the start.", "seconds",
                { Double($0.rebuffering) / 1000 }
            ),
            ("instrument_stream_rebuffers", "Stalls after the start.", nil, { Double($0.rebuffers) }),
            (
                "instrument_stream_playing_seconds", "Time in which the playhead moved.", "seconds",
                { Double($0.playing) / 1000 }
            ),
            ("instrument_stream_sessions", "Sessions that began.", nil, { Double($0.sessions) }),
            (
                "instrument_stream_failed_sessions", "Sessions that failed or showed no picture.", nil,
                { Double($0.failedSessions) }
            ),
        ]
        for (name, help, unit, value) in counters {
            writer.begin(name, .counter, help, unit: unit)
            for (state, total) in zip(shown, totals) { writer.sample(value(total), state.labelText) }
        }
        writer.begin("instrument_stream_errors", .counter, "Errors of sessions by code.")
        for (state, total) in zip(shown, totals) {
            for (code, count) in total.errors.sorted(by: { $0.key < $1.key }) {
                writer.sample(Double(count), state.labelText, MetricsWriter.labels([("code", code)]))
            }
        }
    }

    private func writeRequests(_ shown: [StreamState], to writer: inout MetricsWriter) {
        writer.begin(
            "instrument_stream_requests",
            .counter,
            "Requests of sessions by kind of resource and HTTP status; the status `none` is for requests without an answer."
        )
        var texts: [RequestLabels: [UInt8]] = [:]
        for state in shown {
            let sorted = state.counters.finished.requests.sorted {
                ($0.key.kind, $0.key.status) < ($1.key.kind, $1.key.status)
            }
            for (labels, count) in sorted {
                let known = texts[labels]
                let more = known ?? MetricsWriter.labels([("kind", labels.kind), ("status", labels.status)])
                if known == nil { texts[labels] = more }
                writer.sample(Double(count), state.labelText, more)
            }
        }
        writer.begin(
            "instrument_stream_request_seconds",
            .histogram,
            "Time from a request to its last byte or its failure.",
            unit: "seconds"
        )
        for state in shown { writer.histogram(state.counters.finished.requestTime, state.labelText) }
    }

    private func writeChecks(_ shown: [StreamState], to writer: inout MetricsWriter) {
        writer.begin(
            "instrument_stream_check_failed",
            .gauge,
            "1 while a rule or a check of pictures and sound is broken, 0 afterwards; absent for a rule that was never broken."
        )
        for state in shown {
            for (rule, check) in state.checks.all {
                writer.sample(check.isBroken ? 1 : 0, state.labelText, MetricsWriter.labels([("rule", rule)]))
            }
        }
        writer.begin(
            "instrument_stream_playlist_age_seconds",
            .gauge,
            "Time since the live playlist last changed; needs a check, such as `stale: 1.5x`.",
            unit: "seconds"
        )
        for state in shown { if let age = state.playlistAge(at: now) { writer.sample(age.seconds, state.labelText) } }
        writer.begin(
            "instrument_stream_loudness_lufs",
            .gauge,
            "Short-term loudness (EBU R 128) in LUFS, -120 for silence; needs the check `loudness: true`."
        )
        for state in shown { if let loudness = state.loudness { writer.sample(loudness, state.labelText) } }
    }

    private func writeAlerts(to writer: inout MetricsWriter) {
        writer.begin("instrument_monitor_alert_firing", .gauge, "Streams for which an alert fires.")
        let firing = Dictionary(grouping: model.alerts.filter(\.isFiring), by: \.alert).mapValues(\.count)
        for alert in model.configuration.alerts {
            writer.sample(Double(firing[alert.name] ?? 0), MetricsWriter.labels([("alert", alert.name)]))
        }
        writer.begin("instrument_monitor_alert_messages", .counter, "Messages about incidents that were made.")
        writer.sample(Double(model.book.messageCount), [])
        writeIncidents(to: &writer)
    }

    private func writeIncidents(to writer: inout MetricsWriter) {
        writer.begin("instrument_monitor_incidents", .gauge, "Incidents that are not closed, by state.")
        let counts = Dictionary(grouping: model.book.open, by: \.state.name).mapValues(\.count)
        for state in ["open", "acknowledged", "silenced", "maintenance"] {
            writer.sample(Double(counts[state] ?? 0), MetricsWriter.labels([("state", state)]))
        }
        writer.begin("instrument_monitor_silences", .gauge, "Silences that have not ended.")
        writer.sample(Double(model.book.silences.count { $0.kind == .silence }), [])
        writer.begin("instrument_monitor_maintenance", .gauge, "Planned works that hide streams now.")
        writer.sample(Double(model.book.openWorks), [])
        model.objectives.write(model.configuration.objectives, to: &writer)
    }

    private func writeMonitor(to writer: inout MetricsWriter) {
        writer.begin(
            "instrument_monitor_delay_seconds",
            .gauge,
            "Longest delay of the monitor's work in the latest minute; above a second, this machine may be the reason for stalls.",
            unit: "seconds"
        )
        writer.sample(model.delays.longest(at: now).seconds, [])
        let gauges = [
            ("instrument_monitor_streams", "Streams that are configured.", model.streams.order.count),
            ("instrument_monitor_sessions", "Sessions that run.", model.sessions.running),
            (
                "instrument_monitor_configuration_valid", "0 if the latest reload found an invalid configuration.",
                model.reloads.failure == nil ? 1 : 0
            ),
        ]
        for (name, help, value) in gauges {
            writer.begin(name, .gauge, help)
            writer.sample(Double(value), [])
        }
        let counters = [
            ("instrument_monitor_reloads", "Reloads of the configuration.", model.reloads.count),
            (
                "instrument_monitor_failed_reloads", "Reloads that found an invalid configuration.",
                model.reloads.failedCount
            ),
            (
                "instrument_monitor_delayed_starts", "Starts delayed by the limits of sessions and tabs.",
                model.sessions.delayedStarts
            ),
            (
                "instrument_monitor_abandoned_sessions", "Sessions that did not end after their stop.",
                model.sessions.abandoned
            ),
        ]
        for (name, help, value) in counters {
            writer.begin(name, .counter, help)
            writer.sample(Double(value), [])
        }
    }

    private static func write(_ ledgers: [(name: String, ledger: Ledger)], to writer: inout MetricsWriter) {
        let backends = ledgers.map { (labels: MetricsWriter.labels([("backend", $0.name)]), ledger: $0.ledger) }
        let counters: [(String, String, (Ledger) -> Int)] = [
            ("instrument_backend_emitted_samples", "Samples that the queue took for the backend.", \.emitted),
            ("instrument_backend_acknowledged_samples", "Samples that arrived.", \.acknowledged),
        ]
        for (name, help, value) in counters {
            writer.begin(name, .counter, help)
            for backend in backends { writer.sample(Double(value(backend.ledger)), backend.labels) }
        }
        let gauges: [(String, String, (Ledger) -> Int)] = [
            ("instrument_backend_queued_samples", "Samples that wait.", \.queued),
            ("instrument_backend_dead_samples", "Samples that the backend refuses permanently.", \.dead),
        ]
        for (name, help, value) in gauges {
            writer.begin(name, .gauge, help)
            for backend in backends { writer.sample(Double(value(backend.ledger)), backend.labels) }
        }
        writer.begin("instrument_backend_dropped_samples", .counter, "Samples that the queue dropped, by reason.")
        for backend in backends {
            for reason in DropReason.allCases {
                guard let count = backend.ledger.drops[reason] else { continue }
                writer.sample(Double(count), backend.labels, MetricsWriter.labels([("reason", reason.rawValue)]))
            }
        }
    }

    private static func write(_ process: ProcessFigures, to writer: inout MetricsWriter) {
        let gauges = [
            ("process_resident_memory_bytes", "Resident memory size in bytes.", Double(process.residentBytes)),
            ("process_threads", "Number of threads.", Double(process.threads)),
            ("process_open_fds", "Number of open file descriptors.", Double(process.openFiles)),
            (
                "process_start_time_seconds", "Start time of the process since the Unix epoch in seconds.",
                Double(process.startTime.milliseconds) / 1000
            ),
        ]
        for (name, help, value) in gauges {
            writer.begin(name, .gauge, help)
            writer.sample(value, [])
        }
        writer.begin(
            "process_cpu_seconds",
            .counter,
            "Total user and system CPU time spent in seconds.",
            unit: "seconds"
        )
        writer.sample(process.cpuSeconds, [])
    }
}
