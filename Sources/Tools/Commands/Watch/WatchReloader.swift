internal import Foundation
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentBackends
internal import InstrumentCommandLine
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentWatch

/// Reads the configuration again, after `SIGHUP` and when a file has changed. A configuration with problems changes
/// nothing.
final class WatchReloader: Sendable {
    private struct State {
        var current: WatchConfiguration
        var sources: ConfigurationSources
        var seen: [String: String]
        var isBusy = false
        var isWanted = false
        /// The dates of the files with the secrets of receivers.
        var secretDates: [String: [String]]
    }

    private let command: WatchCommand
    private let monitor: Monitor
    private let delivery: WatchDelivery
    private let factory: WatchBackends
    private let access: WatchAccess
    private let identities: StreamIdentities
    private let log: WatchLog
    private let notifier: ServiceNotifier
    private let tls: WatchTLS?
    private let state: Lock<State>
    private let kinds = BackendKinds.current

    init(
        command: WatchCommand,
        current: WatchConfiguration,
        sources: ConfigurationSources,
        monitor: Monitor,
        delivery: WatchDelivery,
        factory: WatchBackends,
        access: WatchAccess,
        identities: StreamIdentities,
        log: WatchLog,
        notifier: ServiceNotifier,
        tls: WatchTLS? = nil
    ) {
        (self.command, self.monitor, self.delivery) = (command, monitor, delivery)
        (self.factory, self.access, self.identities) = (factory, access, identities)
        (self.log, self.notifier, self.tls) = (log, notifier, tls)
        state = Lock(
            State(
                current: current,
                sources: sources,
                seen: Self.dates(sources),
                secretDates: current.receivers.mapValues(\.secretDates)
            )
        )
    }

    var retention: FileRetention { FileRetention(state.withLock { $0.current }) }

    /// Reads the configuration again, if forced or if a file has changed; returns at once.
    func reload(isForced: Bool) {
        tls?.reload(isForced: isForced)
        renewReceivers()
        let dates = Self.dates(state.withLock { $0.sources })
        let starts = state.withLock { state in
            guard isForced || dates != state.seen else { return false }
            state.seen = dates
            // One reload at a time; a request during a reload starts another one.
            if state.isBusy {
                state.isWanted = true
                return false
            }
            state.isBusy = true
            return true
        }
        if starts { Task { await work() } }
    }

    /// Ends the back-off of the receivers that do not take their messages, and whose secrets have changed: each message
    /// is sent with the new secret, but a refused one waits for minutes.
    private func renewReceivers() {
        guard !factory.isDryRun else { return }
        let receivers = state.withLock { $0.current.receivers }
        let dates = receivers.mapValues(\.secretDates)
        let known = state.withLock { state in
            defer { state.secretDates = dates }
            return state.secretDates
        }
        let failing = Set(factory.health.failing.map(\.receiver))
        for (name, receiver) in receivers where failing.contains(name) {
            guard let before = known[name], before != dates[name] else { continue }
            // A secret that cannot be read yet changes nothing.
            guard let backend = try? factory.receiver(name, receiver) else { continue }
            log.event("the secret of \(name) has changed: its messages are tried again")
            Task { [delivery] in _ = await delivery.alerts.replace(backend: backend, timeout: .seconds(10)) }
        }
    }

    private func work() async {
        while true {
            notifier.reloading()
            await apply(read())
            notifier.ready("watches \(String(counting: monitor.state.streams.order.count, "stream"))")
            let isWanted = state.withLock { state in
                defer { (state.isBusy, state.isWanted) = (state.isWanted, false) }
                return state.isWanted
            }
            if !isWanted { return }
        }
    }

    /// Reads the configuration, and notes where it comes from: also after a failure, because the file with the mistake
    /// is the one that will be corrected.
    private func read() -> Result<WatchConfiguration, ConfigurationError> {
        let known = state.withLock { $0.sources }
        // A file that changes while it is read must have another date than the one that was noted.
        var dates = Self.dates(known)
        var (result, sources) = command.read(kinds: kinds)
        if sources != known {
            dates = Self.dates(sources)
            let again = command.read(kinds: kinds)
            // Without dates, the next look reads once more.
            if again.sources != sources { dates = [:] }
            (result, sources) = again
        }
        state.withLock { ($0.sources, $0.seen) = (sources, dates) }
        return result
    }

    private func apply(_ result: Result<WatchConfiguration, ConfigurationError>) async {
        switch result {
        case .failure(let error):
            for problem in error.problems.prefix(20) { log.warning("\(problem)") }
            let failure = FailedReload(error)
            fail(failure, String(counting: failure.count, "problem"))
        case .success(let new):
            let old = state.withLock { $0.current }
            if let problem = command.problem(of: new) { return fail(problem) }
            do throws(WatchSetupError) {
                let backends = try BackendChanges(backendsFrom: old, to: new, factory)
                let receivers = try BackendChanges(receiversFrom: old, to: new, factory)
                try access.apply(new)
                await backends.apply(to: delivery.instrument)
                await receivers.apply(to: delivery.alerts)
            } catch { return fail(error.description) }
            factory.routes.replace(WatchRun.routes(new))
            factory.keepReceivers(of: new)
            identities.replace(new)
            tls?.apply(new)
            state.withLock { $0.current = new }
            log.warn(of: new)
            monitor.reload(command.part(of: new))
            log.event("configuration reloaded: \(String(counting: command.part(of: new).streams.count, "stream"))")
        }
    }

    private func fail(_ reason: String) { fail(FailedReload(reason: reason), reason) }

    private func fail(_ failure: FailedReload, _ reason: String) {
        monitor.note(failure)
        log.warning("the new configuration is not used (\(reason)); the monitor continues with the previous one")
    }

    /// Where the files of a configuration and the folders of its includes are, links followed, and when they were last
    /// changed.
    private static func dates(_ sources: ConfigurationSources) -> [String: String] {
        let paths = sources.files.union(sources.folders)
        var dates: [String: String] = [:]
        for path in paths where !path.isEmpty { dates[path] = date(of: path) }
        return dates
    }

    /// Where a file is and when it was last changed.
    static func date(of path: String) -> String {
        // A manager of configurations may exchange the target of a link.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: target)
        let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
        // Two changes within a tick of the clock of the file system have one date.
        let (size, number) = (attributes?[.size] as? Int, attributes?[.systemFileNumber] as? Int)
        return "\(target) \(date ?? 0) \(size ?? 0) \(number ?? 0)"
    }
}

/// The differences between the backends and receivers of two configurations.
private struct BackendChanges {
    private var added: [any Backend] = []
    private var replaced: [any Backend] = []
    private var removed: [BackendName] = []

    init(
        backendsFrom old: WatchConfiguration,
        to new: WatchConfiguration,
        _ factory: WatchBackends
    ) throws(WatchSetupError) {
        for (name, backend) in new.backends.sorted(by: { $0.key < $1.key }) {
            if let known = old.backends[name] {
                if !backend.isLike(known) { replaced.append(try factory.backend(name, backend)) }
            } else {
                added.append(try factory.backend(name, backend))
            }
        }
        removed = old.backends.keys.filter { new.backends[$0] == nil }.sorted().map { BackendName($0) }
    }

    init(
        receiversFrom old: WatchConfiguration,
        to new: WatchConfiguration,
        _ factory: WatchBackends
    ) throws(WatchSetupError) {
        guard !factory.isDryRun else { return }
        for (name, receiver) in new.receivers.sorted(by: { $0.key < $1.key }) {
            if let known = old.receivers[name] {
                if known.service != receiver.service {
                    replaced.append(try factory.receiver(name, receiver))
                }
            } else {
                added.append(try factory.receiver(name, receiver))
            }
        }
        removed = old.receivers.keys.filter { new.receivers[$0] == nil }.sorted().map { BackendName("alerts:" + $0) }
    }

    func apply(to instrument: Instrument) async {
        for backend in replaced { await instrument.replace(backend: backend, timeout: .seconds(10)) }
        for backend in added { _ = instrument.add(backend) }
        for name in removed { await instrument.remove(name, timeout: .seconds(10)) }
    }

    func apply(to queue: BatchQueue) async {
        for backend in replaced { await queue.replace(backend: backend, timeout: .seconds(10)) }
        for backend in added { _ = queue.add(backend) }
        for name in removed { await queue.remove(name, timeout: .seconds(10)) }
    }
}

extension BackendConfiguration {
    /// Whether the other configuration makes the same backend; its place does not matter.
    fileprivate func isLike(_ other: BackendConfiguration) -> Bool {
        var copy = other
        copy.place = place
        return copy == self
    }
}
