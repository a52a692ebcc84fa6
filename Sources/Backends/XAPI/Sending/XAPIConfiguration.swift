public import Instrument
public import InstrumentHTTP

/// The address and settings of an LRS.
public struct XAPIConfiguration: Hashable, Sendable {
    /// The base of the LRS's resources: `https://lrs.example.org/xapi` if statements are sent to `…/xapi/statements`.
    public var endpoint: HTTPURL
    /// The credentials; nil if the endpoint contains user and password, or if the LRS requires none.
    public var credentials: XAPICredentials?
    /// The version of xAPI, in the requests' header and for validation.
    public var version: XAPIVersion
    /// Whether statements are compressed with gzip. Off by default: real LRSs respond to a compressed body with 500.
    public var packsBodies: Bool
    /// The timeout of a request.
    public var requestTimeout: Duration
    /// The name under which the queue keeps the backend's place.
    public var name: BackendName
    /// The policy for batches.
    public var policy: DeliveryPolicy

    /// Creates a configuration; by default for 1.0.3, with batches of 50 samples or after 5 s, and a timeout of 30 s.
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
