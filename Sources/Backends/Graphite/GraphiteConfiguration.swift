public import Instrument
internal import InstrumentText

/// How a ``GraphiteBackend`` writes.
public struct GraphiteConfiguration: Sendable {
    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The time limit for connecting, and the time limit for writing a batch.
    public var timeout: Duration
    /// The delivery policy: when a batch is due, and its largest size.
    public var policy: DeliveryPolicy
    /// Maps a sample to a point; nil leaves the sample out, which then counts as delivered. Must return the same value
    /// in every attempt.
    public var mapping: @Sendable (SampleRecord) -> GraphitePoint?

    /// Creates a configuration; by default batches have up to 1,000 samples, wait at most 5 s, and use
    /// ``GraphiteMapping``.
    public init(
        name: BackendName = "graphite",
        timeout: Duration = .seconds(20),
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 1000, maxBytes: 1 << 20),
        mapping: @escaping @Sendable (SampleRecord) -> GraphitePoint? = { GraphiteMapping()($0) }
    ) {
        self.name = name
        self.timeout = timeout
        self.policy = policy
        self.mapping = mapping
    }
}

/// The address of a Graphite server.
public struct GraphiteAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    /// The port of the plaintext protocol; usually 2003.
    package let port: UInt16

    /// Creates an address.
    public init(host: String, port: UInt16 = 2003) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST`, `HOST:PORT` or `[IPv6]:PORT`; nil for anything else.
    public init?(_ text: String) {
        guard let address = HostPort(text, defaultPort: 2003) else { return nil }
        (host, port) = (address.host, address.port)
    }

    /// Host and port.
    public var description: String { hostPort.description }

    var hostPort: HostPort { HostPort(host: host, port: port) }
}
