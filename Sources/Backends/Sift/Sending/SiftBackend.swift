public import Instrument
public import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentSensors

/// Sends the events of one ``SiftQueue`` to Sift. ``Sift`` makes one for each queue; alone it sends events of players.
///
/// ```swift
/// let backend = SiftBackend(credentials: credentials, transport: try SystemTransport())
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], store: store)
/// ```
///
/// `PUT` to the endpoint, `Authorization: Basic` with the beacon key, a body `{"data": […]}` that is always gzip. 200
/// is success; 400 splits the batch until the wrong event is alone, which becomes a dead letter with the server's
/// words; a 400 or 429 whose body says `"status": 60` is a rate limit and is retried; other responses are handled as by
/// every backend. Without credentials, and while paused, events stay in the queue. The queue delivers no sample that is
/// for another service.
public final class SiftBackend: Backend {
    /// The queue's name.
    public var name: BackendName { BackendName(queue.name) }
    /// The queue's rules.
    public let policy: DeliveryPolicy
    /// `sift`, with any ``name``.
    public var service: ServiceName? { .sift }
    let queue: SiftQueue
    private let takesRest: Bool
    private let uplink: SiftUplink
    private let transport: any HTTPTransport

    init(_ queue: SiftQueue, _ uplink: SiftUplink, _ transport: any HTTPTransport) {
        let configuration = uplink.configuration
        self.queue = queue
        self.uplink = uplink
        self.transport = transport
        takesRest = queue.name == configuration.queues.first?.name
        policy = queue.policy(limit: configuration.maxCount, maxBytes: configuration.maxBytes)
    }

    /// Creates a backend without a logger, for the first queue of the configuration.
    ///
    /// - Parameters:
    ///   - configuration: where to and how.
    ///   - credentials: account and key.
    ///   - transport: sends requests.
    ///   - settings: where the installation's identifier is kept.
    ///   - clock: tells the calendar time.
    ///   - randomness: makes the installation's identifier.
    ///   - report: receives errors of reading and saving settings.
    public convenience init(
        _ configuration: SiftConfiguration = SiftConfiguration(),
        credentials: SiftCredentials,
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
        self.init(configuration.queues.first ?? .standard, uplink, transport)
    }

    /// The first event after a silence goes at once: how long that is, ``SiftQueue/uploadWhenOlderThan`` says.
    public func patience() -> Duration? {
        guard queue.uploadWhenOlderThan > .zero, uplink.maySend else { return nil }
        let memory = uplink.settings.queues[queue.name] ?? SiftQueueMemory()
        return queue.timeUntilOverdue(after: memory, now: uplink.clock.wallTime)
    }

    /// Sends the batch in one request, once that is allowed. Samples of which nothing is to be sent count as delivered;
    /// one that was saved as an event but is invalid is a dead letter, and keeps no other.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var (events, wrong): ([JSONValue], [SampleID: String]) = ([], [:])
        var memory = uplink.settings.queues[queue.name] ?? SiftQueueMemory()
        let known = memory.lastEvent
        for record in batch.records {
            do throws(SiftEventError) {
                guard let event = try event(of: record), isNew(event, of: record.sample, after: &memory) else {
                    continue
                }
                events.append(event.json(uplink.configuration.profile))
            } catch {
                wrong[record.id] = error.description
            }
        }
        let outcome = events.isEmpty ? .acknowledged : await send(events)
        guard outcome == .acknowledged else { return outcome }
        // Only now: if it has to be sent again, it is still new.
        if memory.lastEvent != known {
            uplink.change { $0.queues[queue.name, default: .init()].lastEvent = memory.lastEvent }
        }
        return wrong.isEmpty ? .acknowledged : .acknowledgedExcept(wrong)
    }

    /// Whether the queue's rule accepts an event of the chain. Logged events passed the rule when they were appended.
    private func isNew(_ event: SiftEvent, of sample: Sample, after memory: inout SiftQueueMemory) -> Bool {
        guard queue.acceptSameEventAfter > .zero, sample.attributes[SiftSample.event] == nil else { return true }
        guard queue.accepts(event, after: memory, now: event.time) else { return false }
        memory.lastEvent = event
        return true
    }

    private func send(_ events: [JSONValue]) async -> DeliveryOutcome {
        guard let credentials = await uplink.credentials() else {
            return .retry(after: nil, reason: "cancelled while uploads are paused or credentials are missing")
        }
        do throws(HTTPError) {
            guard let request = try SiftRequest.make(events, credentials, uplink.configuration) else {
                return .retry(after: nil, reason: "no memory to compress with")
            }
            let response = try await transport.send(request)
            let now = uplink.clock.wallTime
            let outcome = SiftAnswer.outcome(of: response, to: request, now: now, hiding: credentials)
            if outcome == .acknowledged { uplink.change { $0.queues[queue.name, default: .init()].lastUpload = now } }
            return outcome
        } catch {
            return SiftAnswer.outcome(of: error, hiding: credentials)
        }
    }

    /// The event that a sample of this queue stands for; nil if nothing is to be sent.
    private func event(of record: SampleRecord) throws(SiftEventError) -> SiftEvent? {
        guard isOurs(record.sample) else { return nil }
        guard let saved = record.sample.attributes[SiftSample.event] else {
            var event = uplink.configuration.mapping(record)
            if event?.installationID == nil { event?.installationID = uplink.installationID }
            if uplink.settings.disallowsLocation { event?.appState?.location = nil }
            return event
        }
        var event = try SiftEvent(json: JSONValue(saved))
        // Saved before the person said no, perhaps.
        if uplink.settings.disallowsLocation { event.appState?.location = nil }
        return event
    }

    /// Device properties from collectors have their own queue.
    private static func queueName(of sample: Sample) -> String? {
        guard case .event(let event) = sample, event.action == .deviceProperties else { return nil }
        return SiftQueue.deviceProperties.name
    }

    private func isOurs(_ sample: Sample) -> Bool {
        let named = sample.attributes[SiftSample.queue] ?? Self.queueName(of: sample)
        if named == queue.name { return true }
        return takesRest && !uplink.configuration.queues.contains { $0.name == named }
    }
}

/// How an event that was logged stands in the shared queue.
enum SiftSample {
    static let event = AttributeName("sift.event")
    static let queue = AttributeKey<String>("sift.queue")

    static func make(_ event: SiftEvent, _ queue: SiftQueue, from tracker: TrackerID, at time: Timestamp) -> Sample {
        var attributes = Attributes(exactCapacity: 2)
        attributes[Self.queue] = queue.name
        attributes[Self.event] = event.json(.legacy).attributeValue
        let action = Action(event.type ?? "SiftEvent")
        return .event(Event(action, tracker: tracker, time: time, attributes: attributes))
    }
}

extension ServiceName {
    /// The service of ``SiftBackend`` and ``Sift``.
    static let sift: Self = "sift"
}
