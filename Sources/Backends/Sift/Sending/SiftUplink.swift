internal import Instrument
internal import InstrumentSensors

/// What logger and backends of one Sift share: credentials, whether anything may be sent, and the settings.
final class SiftUplink: Sendable {
    private struct State {
        var credentials: SiftCredentials?
        var isPaused = false
        var settings: SiftSettings
        /// Opens when something may be sent again.
        var gate = Gate()
    }

    let configuration: SiftConfiguration
    let clock: any SchedulingClock
    /// What every event has that names no other.
    let installationID: String
    private let store: any SiftSettingsStore
    private let report: @Sendable (Diagnostic) -> Void
    private let state: Lock<State>

    init(
        _ configuration: SiftConfiguration,
        _ credentials: SiftCredentials?,
        store: any SiftSettingsStore,
        clock: any SchedulingClock,
        randomness: RandomSource,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) {
        self.configuration = configuration
        self.clock = clock
        self.store = store
        self.report = report
        var settings = Self.load(store, report)
        let known = settings.installationID
        installationID = known ?? randomness.identifier()
        settings.installationID = installationID
        state = Lock(State(credentials: credentials, settings: settings))
        if known == nil { change { _ in } }
    }

    var settings: SiftSettings { state.withLock { $0.settings } }

    /// A queue's rules as configured.
    func rules(of queue: SiftQueue) -> SiftQueue {
        configuration.queues.first { $0.name == queue.name } ?? queue
    }

    /// Changes what outlives a run, and saves it. What cannot be saved holds until the process ends.
    func change(_ body: (inout SiftSettings) -> Void) {
        let failure = state.withLock { state -> SiftSettingsError? in
            body(&state.settings)
            return save(state.settings)
        }
        tell(failure)
    }

    /// The event with user and installation, if its queue takes it.
    func admit(_ event: SiftEvent, to queue: SiftQueue, now: WallTime) -> SiftEvent? {
        let rules = rules(of: queue)
        let (admitted, failure) = state.withLock { state -> (SiftEvent?, SiftSettingsError?) in
            var event = event
            if event.userID?.isEmpty ?? true { event.userID = state.settings.userID }
            if event.installationID?.isEmpty ?? true { event.installationID = installationID }
            if state.settings.disallowsLocation { event.appState?.location = nil }
            let memory = state.settings.queues[queue.name] ?? SiftQueueMemory()
            guard rules.accepts(event, after: memory, now: now) else { return (nil, nil) }
            guard rules.acceptSameEventAfter > .zero else { return (event, nil) }
            state.settings.queues[queue.name, default: memory].lastEvent = event
            return (event, save(state.settings))
        }
        tell(failure)
        return admitted
    }

    /// Called under the lock, so that what is saved last is what was changed last.
    private func save(_ settings: SiftSettings) -> SiftSettingsError? {
        do throws(SiftSettingsError) {
            try store.save(settings.bytes)
            return nil
        } catch {
            return error
        }
    }

    private func tell(_ failure: SiftSettingsError?) {
        if let failure { report(.store("Sift's settings: \(failure)")) }
    }

    /// Missing settings are replaced by defaults. Damaged settings are, too, but with locations disallowed, since that may have been the choice.
    private static func load(
        _ store: any SiftSettingsStore,
        _ report: (Diagnostic) -> Void
    ) -> SiftSettings {
        do throws(SiftSettingsError) {
            guard let bytes = try store.load() else { return SiftSettings() }
            if let settings = SiftSettings(bytes: bytes) { return settings }
            report(
                .store(
                    "Sift's settings are damaged and were reset; locations are not collected until the app allows them again"
                )
            )
        } catch {
            report(.store("Sift's settings: \(error); locations are not collected until the app allows them again"))
        }
        return SiftSettings(disallowsLocation: true)
    }
}

/// Whether anything may be sent.
extension SiftUplink {
    var isPaused: Bool { state.withLock { $0.isPaused } }
    var maySend: Bool { state.withLock { !$0.isPaused && $0.credentials != nil } }

    func pause() { state.withLock { $0.isPaused = true } }
    func resume() { changeSending { $0.isPaused = false } }
    func set(_ credentials: SiftCredentials?) { changeSending { $0.credentials = credentials } }

    /// Returns the credentials once there are some and nothing is paused; nil if the task is cancelled first.
    func credentials() async -> SiftCredentials? {
        while true {
            let (credentials, gate) = state.withLock { ($0.isPaused ? nil : $0.credentials, $0.gate) }
            if let credentials { return credentials }
            guard await gate.wait() else { return nil }
        }
    }

    private func changeSending(_ body: (inout State) -> Void) {
        let opened = state.withLock { state -> Gate? in
            body(&state)
            guard !state.isPaused, state.credentials != nil else { return nil }
            defer { state.gate = Gate() }
            return state.gate
        }
        opened?.open()
    }
}
