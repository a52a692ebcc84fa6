public import Instrument
public import InstrumentHTTP

/// Logs events for Sift into an instrument's shared queue, and has them uploaded by the rules of ``SiftQueue``.
///
/// ```swift
/// let settings = SiftSettingsFile(path: directory + "/sift.json")
/// let sift = Sift(on: instrument, credentials: credentials, transport: try SystemTransport(), settings: settings)
/// sift.userID = "person-17"
/// sift.append(SiftEvent(time: clock.wallTime, type: "Purchase", path: "/shop", fields: ["currency": "EUR"]))
/// ```
///
/// When `append` returns, the event is in the queue's store; sending, retries and what happens after a crash are the
/// queue's. Backends of other services leave these events out. All methods may be called from any thread.
public final class Sift: Sendable {
    /// The time for a requested upload, after which the queue's rules apply again.
    private static var uploadTimeout: Duration { .seconds(60) }

    private let uplink: SiftUplink
    private let queue: BatchQueue
    private let tracker: TrackerID

    /// Adds a ``SiftBackend`` for each queue to an instrument. If it has backends of these names already, those stay.
    ///
    /// - Parameters:
    ///   - instrument: whose queue takes the events.
    ///   - configuration: where to and how.
    ///   - credentials: account and key; without them events wait in the queue.
    ///   - transport: sends requests.
    ///   - settings: where user, installation and choices are kept; for real use a ``SiftSettingsFile``.
    ///   - clock: stamps and times events.
    ///   - randomness: makes the installation's identifier, once.
    ///   - report: receives errors of reading and saving settings.
    public init(
        on instrument: Instrument,
        _ configuration: SiftConfiguration = SiftConfiguration(),
        credentials: SiftCredentials?,
        transport: any HTTPTransport,
        settings: any SiftSettingsStore = SiftSettingsMemory(),
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) {
        let uplink = SiftUplink(
            configuration,
            credentials,
            store: settings,
            clock: clock,
            randomness: randomness,
            report: report
        )
        self.uplink = uplink
        queue = instrument.queue
        tracker = instrument.add(SiftTracker())
        for queue in configuration.queues { instrument.add(SiftBackend(queue, uplink, transport)) }
    }

    /// The user of future events; kept across restarts. Events that were appended before keep their user.
    public var userID: String? {
        get { uplink.settings.userID }
        set { uplink.change { $0.userID = newValue } }
    }

    /// Which installation the events are of: a UUID that is made once and kept.
    public var installationID: String { uplink.installationID }

    /// Whether locations are neither collected nor sent; kept across restarts.
    public var disallowsCollectingLocationData: Bool {
        get { uplink.settings.disallowsLocation }
        set { uplink.change { $0.disallowsLocation = newValue } }
    }

    /// Exchanges account and key; nil holds events back. They are kept in memory alone.
    public func setCredentials(_ credentials: SiftCredentials?) {
        uplink.set(credentials)
        upload()
    }

    /// Whether uploads are held back.
    public var isPaused: Bool { uplink.isPaused }

    /// Pauses uploads; a running upload completes. Events are still accepted.
    public func pause() { uplink.pause() }

    /// Resumes uploads.
    public func resume() {
        uplink.resume()
        upload()
    }
}

/// Events in, uploads out.
extension Sift {
    /// Saves an event; false if nothing is saved: the event says the same as the one before it, too soon for the
    /// queue's rule, or the shared queue does not keep it, without consent or on a full disk.
    ///
    /// User and installation are copied into it where it names none; its location is taken out where that is
    /// disallowed.
    @discardableResult
    public func append(_ event: SiftEvent, to queue: SiftQueue = .standard) -> Bool {
        let now = uplink.clock.timestamp
        guard let admitted = uplink.admit(event, to: queue, now: now.wallTime) else { return false }
        let sample = SiftSample.make(admitted.event, queue, from: tracker, at: now)
        switch self.queue.append([sample], for: .sift) {
        case .stored, .deferred:
            uplink.keep(admitted)
            return true
        case .notCollected, .notStored, .rejected, .unknownTracker:
            uplink.withdraw(admitted, from: queue)
            return false
        }
    }

    /// Uploads what waits: of the queues that are ready, or with `force` of all. False, and nothing happens, without
    /// credentials, while paused, and when nothing waits or is ready.
    ///
    /// Returns at once. The shared queue delivers what it has to its other backends, too.
    @discardableResult
    public func upload(force: Bool = false) -> Bool {
        guard uplink.maySend else { return false }
        let (ledgers, settings, now) = (queue.ledger, uplink.settings, uplink.clock.wallTime)
        let isWanted = uplink.configuration.queues.contains { queue in
            let count = ledgers[BackendName(queue.name)]?.queued ?? 0
            let memory = settings.queues[queue.name] ?? SiftQueueMemory()
            if force { return count > 0 }
            // Events that are uploaded one by one are already being sent; their count belongs to other queues.
            return queue.uploadWhenMoreThan != 0 && queue.isReady(count: count, after: memory, now: now)
        }
        if isWanted { queue.startFlush(timeout: Self.uploadTimeout) }
        return isWanted
    }
}

/// Gives the logger's events their own tracker number in the instrument.
private final class SiftTracker: Tracker {
    let target: String? = "sift"
    func begin(in context: TrackerContext) {}
}
