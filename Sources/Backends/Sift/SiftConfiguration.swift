public import Instrument

/// How events are collected and sent.
public struct SiftConfiguration: Sendable {
    /// The address of the service.
    public var endpoint: SiftEndpoint
    /// Which fields are sent. It is the profile of the moment of sending, also for events that were saved before.
    public var profile: SiftProfile
    /// The queues; what names none of them, as events of players do, belongs to the first.
    public var queues: [SiftQueue]
    /// The largest number of events in a request.
    public var maxCount: Int
    /// The largest number of bytes in a request, by the store's measure; an event that is larger goes alone.
    public var maxBytes: Int
    /// The timeout of a request.
    public var timeout: Duration
    /// Maps samples that were not logged through ``Sift``; nil leaves a sample out, which then counts as delivered.
    /// Must return the same value in every attempt.
    public var mapping: @Sendable (SampleRecord) -> SiftEvent?

    /// Creates a configuration; by default for Sift's own service, profile `current`, the two usual queues, requests of
    /// up to 100 events, 256 KiB and 30 s, and events of players without metrics.
    public init(
        endpoint: SiftEndpoint = .sift,
        profile: SiftProfile = .current,
        queues: [SiftQueue] = [.standard, .deviceProperties],
        maxCount: Int = 100,
        maxBytes: Int = 256 << 10,
        timeout: Duration = .seconds(30),
        mapping: @escaping @Sendable (SampleRecord) -> SiftEvent? = { SiftMapping.events($0) }
    ) {
        self.endpoint = endpoint
        self.profile = profile
        self.queues = queues
        self.maxCount = maxCount
        self.maxBytes = maxBytes
        self.timeout = timeout
        self.mapping = mapping
    }
}
