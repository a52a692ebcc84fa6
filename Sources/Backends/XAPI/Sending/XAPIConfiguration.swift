public import Instrument
public import InstrumentHTTP

/// An LRS and how to speak to it.
public struct XAPIConfiguration: Hashable, Sendable {
    /// Where its resources are: `https://lrs.example.org/xapi` if statements go to `…/xapi/statements`.
    public var endpoint: HTTPURL
    /// What it knows us by; nil if the endpoint carries user and password, or if it asks for none.
    public var credentials: XAPICredentials?
    /// The version that is announced, and whose rules statements have to keep.
    public var version: XAPIVersion
    /// Whether statements are sent packed. Off by default: real LRSs answer a packed body with 500.
    public var packsBodies: Bool
    /// How long a request may take.
    public var requestTimeout: Duration
    /// The backend's name, under which the queue keeps its place.
    public var name: BackendName
    /// When a batch is due and how large it may be.
    public var policy: DeliveryPolicy

    /// Creates a configuration; by default for 1.0.3, with 50 samples a batch, 5 s of patience and 30 s a request.
    public init(
        endpoint: HTTPURL,
        credentials: XAPICredentials? = nil,
        version: XAPIVersion = .v1,
        packsBodies: Bool = false,
        requestTimeout: Duration = .seconds(30),
        name: BackendName = "xapi",
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 50)
    ) {
        self.endpoint = endpoint
        self.credentials = credentials
        self.version = version
        self.packsBodies = packsBodies
        self.requestTimeout = requestTimeout
        self.name = name
        self.policy = policy
    }
}
