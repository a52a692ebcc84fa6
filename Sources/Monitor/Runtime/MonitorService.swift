package import Instrument
internal import InstrumentJSON
package import InstrumentMonitor

/// Answers the requests to the monitor: metrics, health, probes, the dashboard and its data.
package final class MonitorService: Sendable {
    private struct Cache {
        var pages: [MetricsWriter.Format: (rendered: MonotonicInstant, bytes: [UInt8])] = [:]
    }

    let monitor: Monitor
    private let facts: @Sendable () -> MonitorFacts
    private let probes: ProbePage?
    let clock: any SchedulingClock
    private let hub: EventHub
    private let cache = Lock(Cache())

    /// Creates a service.
    /// - Parameters:
    ///   - facts: the ledgers of the backends and the figures of the process.
    ///   - probes: answers `/probe`; nil refuses it.
    package init(
        _ monitor: Monitor,
        facts: @escaping @Sendable () -> MonitorFacts,
        probes: ProbePage? = nil,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.monitor, self.facts, self.probes, self.clock) = (monitor, facts, probes, clock)
        hub = EventHub(monitor, facts: facts, clock: clock)
    }

    /// Answers a request.
    package func respond(_ request: ServerRequest) async -> ServerReply {
        if !["GET", "HEAD"].contains(request.method) {
            guard let path = ActionPath(request.path) else { return .text(404, "no action has this path") }
            return await act(path, request)
        }
        if let reply = incidents(request) { return reply }
        if let reply = await evidence(request) { return reply }
        switch request.path {
        case "/": return DashboardPage.reply
        case "/healthz":
            return monitor.isResponsive ? .text(200, "ok") : .text(503, "the monitor has not worked for 30 s")
        case "/metrics": return metrics(MetricsWriter.Format(accept: request.header("Accept")))
        case "/probe": return await probe(request)
        case "/api/state":
            let now = clock.timestamp
            return .json(monitor.documents(at: now).overview(facts()).stating(request.client))
        case "/api/stream":
            guard let name = request.parameter("name") else { return .text(400, "give the stream as ?name=NAME") }
            let now = clock.timestamp
            let count = { (key: String, usual: Int) in
                max(0, request.parameter(key).flatMap { Int($0) } ?? usual)
            }
            let detail = monitor.documents(at: now).detail(
                of: name,
                minutes: count("minutes", 60),
                quarters: count("quarters", 96)
            )
            guard let detail else {
                return .text(404, "no stream has this name")
            }
            return .json(detail)
        case "/api/har":
            guard let name = request.parameter("name") else { return .text(400, "give the stream as ?name=NAME") }
            guard let archive = await monitor.archive(of: name) else { return .text(404, "no stream has this name") }
            return ServerReply(200, "application/json", archive)
        case "/month", "/api/month": return month(request)
        case "/events": return .events { [hub] sink in hub.add(sink, of: request.client) }
        default: return .text(404, "nothing is here; try /, /metrics, /probe or /healthz")
        }
    }

    /// The report of the latest 30 days, or of `?month=2026-11`.
    private func month(_ request: ServerRequest) -> ServerReply {
        let now = clock.timestamp
        var period = ReportPeriod(until: now.wallTime)
        if let text = request.parameter("month") {
            guard let month = ReportPeriod(month: text) else {
                return .text(400, "the month must be a year and a month, as in ?month=2026-11")
            }
            period = month
        }
        let report = MonthReport(period, of: monitor.shown(at: now.instant), at: now)
        return request.path == "/month" ? .page(MonthPage(report).html) : .json(report.document)
    }

    /// Ends the streams of events.
    package func close() { hub.close() }

    /// Several scrapers within a second get the same page, so that a client that asks in a loop costs little.
    private func metrics(_ format: MetricsWriter.Format) -> ServerReply {
        let now = clock.now
        if let known = cache.withLock({ $0.pages[format] }), known.rendered.duration(to: now) < .milliseconds(500) {
            return ServerReply(200, format.contentType, known.bytes)
        }
        let bytes = MonitorMetrics(of: monitor.shown(at: now), facts(), at: now).bytes(format)
        cache.withLock { $0.pages[format] = (now, bytes) }
        return ServerReply(200, format.contentType, bytes)
    }

    private func probe(_ request: ServerRequest) async -> ServerReply {
        guard let probes else { return .text(404, "probes are not available") }
        guard let target = request.parameter("target"), !target.isEmpty else {
            return .text(400, "give the name of a stream or the URL of a stream on a configured host as ?target=TARGET")
        }
        let limit = request.header("X-Prometheus-Scrape-Timeout-Seconds").flatMap(Double.init)
        let format = MetricsWriter.Format(accept: request.header("Accept"))
        switch await probes.run(target, monitor.state.configuration, scrapeTimeout: limit, format) {
        case .success(let bytes): return ServerReply(200, format.contentType, bytes)
        case .failure(.notConfigured):
            return .text(
                403,
                "the target must be a configured stream that is no page, or a URL on the host and port of one"
            )
        case .failure(.busy): return .text(503, "too many probes run; try again later")
        }
    }
}

extension ServerReply {
    static func json(_ value: JSONValue) -> ServerReply {
        ServerReply(200, "application/json; charset=utf-8", value.bytes)
    }

    /// A page that has its policy itself; nobody else's page may frame it.
    static func page(_ html: String) -> ServerReply {
        ServerReply(200, "text/html; charset=utf-8", Array(html.utf8), headers: [("X-Frame-Options", "DENY")])
    }
}

/// Sends what changes to the clients that listen for events.
final class EventHub: Sendable {
    /// The most rows in one update.
    private static let mostRows = 500
    /// The rows that each update has beside those that changed, in turn: a client that missed an update catches up.
    private static let refreshedRows = 50
    private static let interval = Duration.seconds(1)

    private struct State {
        var sinks: [Int: (sink: EventSink, client: ServerClient?)] = [:]
        var next = 0
        var sent: [Int: Int] = [:]
        var cursor = 0
        var refreshed = 0
        var timer: ScheduledAction?
        var isClosed = false
    }

    private let monitor: Monitor
    private let facts: @Sendable () -> MonitorFacts
    private let clock: any SchedulingClock
    private let state = Lock(State())

    init(_ monitor: Monitor, facts: @escaping @Sendable () -> MonitorFacts, clock: any SchedulingClock) {
        (self.monitor, self.facts, self.clock) = (monitor, facts, clock)
    }

    /// Adds a client, which gets the whole state first; returns what removes the client.
    func add(_ sink: EventSink, of client: ServerClient?) -> @Sendable () -> Void {
        let now = clock.timestamp
        sink.send("state", monitor.documents(at: now).overview(facts()).stating(client).bytes)
        let number = state.withLock { state in
            state.next += 1
            if !state.isClosed { state.sinks[state.next] = (sink, client) }
            return state.next
        }
        arm()
        return { [weak self] in self?.state.withLock { $0.sinks[number] = nil } }
    }

    func close() {
        let timer = state.withLock { state in
            (state.isClosed, state.sinks) = (true, [:])
            return state.timer
        }
        timer?.cancel()
    }

    private func arm() {
        state.withLock { state in
            guard state.timer == nil, !state.isClosed, !state.sinks.isEmpty else { return }
            state.timer = clock.schedule(at: clock.now.advanced(by: Self.interval)) { [weak self] in self?.update() }
        }
    }

    private func update() {
        let now = clock.timestamp
        let model = monitor.shown(at: now.instant)
        let slots = model.streams.order
        let revisions = model.streams.revisions
        let chosen = state.withLock { state -> Set<Int> in
            var chosen: Set<Int> = []
            // From where the last update ended, so that each stream has its turn.
            for step in slots.indices where chosen.count < Self.mostRows {
                let slot = slots[(state.cursor + step) % slots.count]
                guard let revision = revisions[slot], state.sent[slot] != revision else { continue }
                chosen.insert(slot)
                state.sent[slot] = revision
                if chosen.count == Self.mostRows { state.cursor = (state.cursor + step + 1) % slots.count }
            }
            for step in 0..<min(Self.refreshedRows, slots.count) {
                chosen.insert(slots[(state.refreshed + step) % slots.count])
            }
            if !slots.isEmpty { state.refreshed = (state.refreshed + Self.refreshedRows) % slots.count }
            if state.sent.count > 2 * slots.count + 16 { state.sent = state.sent.filter { revisions[$0.key] != nil } }
            return chosen
        }
        let document = MonitorDocuments(of: model, at: now).update(chosen, facts())
        let sinks = state.withLock { state in
            state.timer = nil
            return Array(state.sinks.values)
        }
        // The role of a client may be another one after a reload; clients of one name get the same bytes.
        var rendered: [ServerClient?: [UInt8]] = [:]
        for (sink, client) in sinks {
            let bytes = rendered[client] ?? document.stating(client).bytes
            rendered[client] = bytes
            sink.send("update", bytes)
        }
        arm()
    }
}
