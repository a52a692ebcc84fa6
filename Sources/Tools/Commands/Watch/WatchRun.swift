internal import ArgumentParser
internal import Foundation
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentFiles
internal import InstrumentHTTP
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentTransport
internal import InstrumentWatch

/// One run of `watch`, from its configuration to its stop.
struct WatchRun {
    private let command: WatchCommand
    private let configuration: WatchConfiguration
    private let sources: ConfigurationSources
    private let log: WatchLog

    init(_ command: WatchCommand, _ configuration: WatchConfiguration, from sources: ConfigurationSources) {
        (self.command, self.configuration, self.sources) = (command, configuration, sources)
        log = WatchLog(Terminal(isQuiet: true))
    }

    func run() async throws {
        FileLimit.raise()
        Allocator.keepFlat()
        log.warn(of: configuration)
        let clock = SystemClock()
        let begin = clock.wallTime
        let headers = StreamHeaders(try command.access.headers(), keepsCookies: command.access.cookieJar)
        let access = try WatchAccess(command.token, headers: headers)
        do throws(WatchSetupError) { try access.apply(configuration) } catch {
            throw ValidationError(error.description)
        }
        let transport = try SystemTransport.ofProgram(
            maxConnectionsPerHost: 10_000,
            refusingPrivateAddresses: command.refusePrivateAddresses,
            access: command.access
        )
        let (routes, taps) = (SampleRoutes(), SessionTaps())
        let identities = StreamIdentities(configuration)
        routes.replace(Self.routes(configuration))
        let factory = try Self.factory(command, log.terminal, routes)
        let delivery = try WatchDelivery(configuration, factory, taps, identities, log: log, clock: clock)
        let probes = ProbeSource(
            instrument: delivery.instrument,
            taps: taps,
            transport: transport,
            userAgent: PlayerMonitor.userAgent,
            headers: headers,
            clock: clock
        )
        let browser = BrowserSource(
            instrument: delivery.instrument,
            taps: taps,
            checks: probes.checks,
            launch: command.browser.launch,
            libraries: try command.browser.texts(),
            clock: clock
        ) { [log] in log.warning($0) }
        let sessions = command.from == nil ? PlayerSources(probes, browser) : nil
        let monitor = makeMonitor(sessions, checker: command.from == nil ? probes : nil, delivery, clock)
        let feed = try makeFeed(factory.transport)
        let facts: @Sendable () -> MonitorFacts = {
            var facts = MonitorFacts()
            facts.ledgers = delivery.ledgers
            facts.process = ProcessFigures.current(startTime: begin)
            facts.build = PlayerMonitor.build
            return facts
        }
        let service = MonitorService(monitor, facts: facts, probes: try makeProbes(transport, headers), clock: clock)
        let tls = try WatchTLS.make(command, configuration, log)
        let server = try await makeServer(service, access, tls)
        delivery.instrument.ready()
        let notifier = ServiceNotifier(environment: ProcessInfo.processInfo.environment)
        let reloader = WatchReloader(
            command: command,
            current: configuration,
            sources: sources,
            monitor: monitor,
            delivery: delivery,
            factory: factory,
            access: access,
            identities: identities,
            log: log,
            notifier: notifier,
            tls: tls
        )
        let stop = Gate()
        StopSignals.report(reloadsTo: { reloader.reload(isForced: true) }, to: { stop.open() })
        log.terminal.whenOutputCloses { stop.open() }
        monitor.start()
        let reading = feed.map { feed in
            let reading = FeedReading(feed, into: monitor, clock: clock) { [log] in log.warning($0) }
            return Task { await reading.run() }
        }
        if let server { log.event("listening on \(address(of: server, isSecure: tls != nil))") }
        if let feed { log.event("reads \(feed.name)") }
        notifier.ready("watches \(String(counting: command.part(of: configuration).streams.count, "stream"))")
        factory.health.restore(monitor.state.undelivered)
        factory.health.observe { [weak monitor] in monitor?.note($0) }
        let resending = Task { await factory.resender.run(monitor, clock: clock) }
        let retrying = Task { await delivery.sink.run() }
        let chores = startChores(monitor, reloader, notifier, clock)
        await show(monitor, facts, clock, until: stop)
        chores.cancel()
        resending.cancel()
        retrying.cancel()
        notifier.stopping()
        service.close()
        reading?.cancel()
        await reading?.value
        await monitor.stop(timeout: .seconds(20))
        await browser.close()
        let isDelivered = await delivery.shutdown(timeout: .seconds(10))
        await server?.stop()
        log.event("stopped")
        try log.terminal.checkOutput()
        if !isDelivered { throw ExitCode(ExitStatus.undelivered.rawValue) }
    }

    /// What makes backends and receivers.
    static func factory(
        _ command: WatchCommand,
        _ terminal: Terminal,
        _ routes: SampleRoutes
    ) throws -> WatchBackends {
        WatchBackends(
            terminal: terminal,
            // The proxy of the streams is not used for backends.
            transport: try SystemTransport.ofProgram(
                maxConnectionsPerHost: 10_000,
                refusingPrivateAddresses: command.refusePrivateAddresses
            ),
            routes: routes,
            state: command.state,
            isDryRun: command.dryRun,
            refusesPrivateAddresses: command.refusePrivateAddresses
        )
    }

    /// The source of samples; nil for a monitor that plays its streams. Exits with code 2 if the source cannot be used.
    private func makeFeed(_ transport: any HTTPTransport) throws -> (any SampleFeed)? {
        guard let option = try command.feed() else { return nil }
        let position = command.state.map { directory in
            FeedPosition(directory: directory, source: option.name) { [log] in log.warning($0) }
        }
        return try option.make(
            command.credentials,
            since: command.since ?? .latest,
            position: position,
            transport: transport
        )
    }

    /// - Parameters:
    ///   - sessions: the source of the sessions; nil for a monitor of samples from elsewhere.
    ///   - checker: performs the checks that people ask for; nil for such a monitor.
    private func makeMonitor(
        _ sessions: PlayerSources?,
        checker: ProbeSource?,
        _ delivery: WatchDelivery,
        _ clock: SystemClock
    ) -> Monitor {
        let source: any SessionSource = if let sessions { sessions } else { NoSessions() }
        var options = MonitorOptions()
        (options.maxSessions, options.maxTabs) = (command.maxSessions, command.maxTabs)
        let shard = command.shard.flatMap { Shard($0) }
        let file = command.state.map { StateFile(directory: $0, shard: shard, log: log) }
        file?.removeLeftovers()
        var model = MonitorModel(
            command.part(of: configuration),
            options: options,
            at: clock.timestamp,
            seed: RandomSource().next(),
            restoring: file?.read()
        )
        if model.hasDamagedIncidents { file?.warnOfDamagedIncidents() }
        file?.readHistory(into: &model, at: clock.wallTime)
        let evidence = file?.readEvidence(into: &model)
        let sink: any AlertSink =
            command.dryRun
            ? PrintingSink { [log] in log.event($0) }
            : delivery.sink
        guard let file, let evidence else {
            return Monitor(model, source: source, sink: sink, clock: clock, checker: checker)
        }
        return Monitor(
            model,
            source: source,
            sink: sink,
            clock: clock,
            save: { file.write($0) },
            history: file,
            evidence: evidence,
            checker: checker
        )
    }

    /// Shows the table on a terminal, else lines, until `stop` opens.
    private func show(
        _ monitor: Monitor,
        _ facts: @escaping @Sendable () -> MonitorFacts,
        _ clock: SystemClock,
        until stop: Gate
    ) async {
        guard showsTable else { return await printLines(monitor, clock, until: stop) }
        log.silence()
        let person = StreamTable.Action.person(orElse: "watch")
        let screen = WatchScreen(isColored: StandardOutput.isColored, canAct: true) { action in
            await monitor.perform(action, by: person)
        }
        await screen.run(until: stop) { opened in
            let documents = monitor.documents(at: clock.timestamp)
            return (.success(documents.overview(facts())), opened.flatMap { documents.detail(of: $0) })
        }
        log.unsilence()
    }

    static func routes(_ configuration: WatchConfiguration) -> [String: Set<String>] {
        Dictionary(configuration.streams.map { ($0.name, Set($0.backends)) }) { first, _ in first }
    }

    /// The table needs standard output for itself.
    private var showsTable: Bool {
        !command.plain && FullScreen.isAvailable
            && !configuration.backends.values.contains(where: \.backend.kind.writesOutput)
    }

    private func makeProbes(_ transport: SystemTransport, _ headers: StreamHeaders) throws -> ProbePage? {
        guard command.listen != nil, command.from == nil else { return nil }
        return ProbePage(
            transport: transport,
            guarded: try SystemTransport.ofProgram(refusingPrivateAddresses: true, access: command.access),
            userAgent: PlayerMonitor.userAgent,
            headers: headers
        )
    }

    private func makeServer(
        _ service: MonitorService,
        _ access: WatchAccess,
        _ tls: WatchTLS?
    ) async throws -> MonitorServer? {
        guard let address = command.listen.flatMap({ HostPort(listening: $0) }) else { return nil }
        var configuration = ServerConfiguration()
        (configuration.host, configuration.port) = (address.host, Int(address.port))
        (configuration.access, configuration.tls) = (access.control, tls?.identity)
        do throws(ServerError) {
            return try await MonitorServer.start(configuration) { await service.respond($0) }
        } catch {
            log.terminal.note("player-monitor: \(error)")
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }

    private func address(of server: MonitorServer, isSecure: Bool) -> String {
        let host = command.listen.flatMap { HostPort(listening: $0) }?.host ?? ""
        return "http\(isSecure ? "s" : "")://\(host.contains(":") ? "[\(host)]" : host):\(server.port)"
    }

    /// Looks at the configuration's files, deletes old files, gives memory back, and reports to the service manager.
    private func startChores(
        _ monitor: Monitor,
        _ reloader: WatchReloader,
        _ notifier: ServiceNotifier,
        _ clock: SystemClock
    ) -> Task<Void, Never> {
        Task {
            var (nextSweep, nextReturn) = (clock.now, clock.now)
            while !Task.isCancelled {
                // A monitor that does not work gives no sign of life, and the manager restarts the service.
                if monitor.isResponsive { notifier.alive() }
                reloader.reload(isForced: false)
                if nextSweep <= clock.now {
                    for problem in reloader.retention.sweep() { log.warning(problem) }
                    nextSweep = clock.now.advanced(by: .seconds(600))
                }
                if nextReturn <= clock.now {
                    Allocator.giveBack()
                    nextReturn = clock.now.advanced(by: .seconds(60))
                }
                let interval = min(.seconds(5), notifier.watchdogInterval ?? .seconds(5))
                do { try await clock.sleep(until: clock.now.advanced(by: interval)) } catch { return }
            }
        }
    }

    /// Prints what happens, one line each, and a summary every minute.
    private func printLines(_ monitor: Monitor, _ clock: SystemClock, until stop: Gate) async {
        let printing = Task {
            var lines = WatchLines()
            while !Task.isCancelled {
                for line in lines.news(of: monitor.state, at: clock.timestamp) { log.event(line) }
                do { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) } catch { return }
            }
        }
        _ = await stop.wait()
        printing.cancel()
    }
}

/// Prints messages instead of sending them.
struct PrintingSink: AlertSink {
    let show: @Sendable (String) -> Void
    func send(_ message: AlertMessage) { show("alert (dry run) \(message.line)") }
}
