internal import Instrument
internal import InstrumentSensors

/// The common state of the logger and the backends of one Sift: credentials, permission to send, and settings.
final class SiftUplink: Sendable {
    private struct State {
        var credentials: SiftCredentials?
        var isPaused = false
        var settings: SiftSettings
        /// Why the saved settings could not be read; they are not replaced then.
        var unread: SiftSettingsError?
        /// Opens when something may be sent again.
        var gate = Gate()
    }

    let configuration: SiftConfiguration
    let clock: any SchedulingClock
    /// The default values of every event.
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
        var (settings, unread) = Self.load(store, report)
        let known = settings.installationID
        installationID = known ?? randomness.identifier()
        settings.installationID = installationID
        state = Lock(State(credentials: credentials, settings: settings, unread: unread))
        if known == nil, unread == nil { change { _ in } }
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
            return save(state)
        }
        tell(failure)
    }

    /// An event that its queue's rules take.
    struct Admitted {
        let event: SiftEvent
        /// Whether the event was noted as the latest one of its queue, in place of `replaced`.
        let isNoted: Bool
        let replaced: SiftEvent?
    }

    /// The event with user and installation, if its queue takes it. The caller appends the event, and calls
    /// ``keep(_:)`` or ``withdraw(_:from:)``.
    func admit(_ event: SiftEvent, to queue: SiftQueue, now: WallTime) -> Admitted? {
        let rules = rules(of: queue)
        return state.withLock { state in
            var event = event
            if event.userID?.isEmpty ?? true { event.userID = state.settings.userID }
            if event.installationID?.isEmpty ?? true { event.installationID = installationID }
            if state.settings.disallowsLocation { event.appState?.location = nil }
            let memory = state.settings.queues[queue.name] ?? SiftQueueMemory()
            guard rules.accepts(event, after: memory, now: now) else { return nil }
            let isNoted = rules.acceptSameEventAfter > .zero
            if isNoted { state.settings.queues[queue.name, default: memory].lastEvent = event }
            return Admitted(event: event, isNoted: isNoted, replaced: memory.lastEvent)
        }
    }

    /// Saves the settings once the shared queue has the event: a process that is killed in between sends it again.
    func keep(_ admitted: Admitted) {
        if admitted.isNoted { change { _ in } }
    }

    /// Takes back the note of an event that the shared queue did not keep.
    func withdraw(_ admitted: Admitted, from queue: SiftQueue) {
        guard admitted.isNoted else { return }
        state.withLock { state in
            guard state.settings.queues[queue.name]?.lastEvent == admitted.event else { return }
            state.settings.queues[queue.name]?.lastEvent = admitted.replaced
        }
    }

    /// Called under the lock, so that what is saved last is what was changed last.
    private func save(_ state: State) -> SiftSettingsError? {
        if let unread = state.unread {
            return SiftSettingsError("not saved, because the saved settings could not be read and are kept: \(unread)")
        }
        do throws(SiftSettingsError) {
            try store.save(state.settings.bytes)
            return nil
        } catch {
            return error
        }
    }

    private func tell(_ failure: SiftSettingsError?) {
        if let failure { report(.store("Sift's settings: \(failure)")) }
    }

    /// Missing settings are replaced by defaults. Damaged settings are, too, but with locations disallowed, since that
    /// may have been the choice. Settings that cannot be read may be whole: defaults hold for this process, and nothing
    /// is saved.
    private static func load(
        _ store: any SiftSettingsStore,
        _ report: (Diagnostic) -> Void
    ) -> (SiftSettings, unread: SiftSettingsError?) {
        do throws(SiftSettingsError) {
            guard let bytes = try store.load() else { return (SiftSettings(), nil) }
            if let settings = SiftSettings(bytes: bytes) { return (settings, nil) }
            report(
                .store(
                    "Sift's settings are damaged and were reset; locations are not collected until the app allows them again"
                )
            )
        } catch {
            report(
                .store(
                    "Sift's settings: \(error); until the next start, locations are not collected and nothing is saved"
                )
            )
            return (SiftSettings(disallowsLocation: true), error)
        }
        return (SiftSettings(disallowsLocation: true), nil)
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
