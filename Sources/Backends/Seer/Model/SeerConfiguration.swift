public import InstrumentHTTP
internal import InstrumentText

/// The credentials of an app for Seer. They are kept in memory only: no description, log, error or file shows them.
public struct SeerCredentials: Hashable, Sendable {
    let clientID: String
    let clientSecret: String
    let apiKey: String?

    /// Creates credentials; a key is sent with every request, in the header `X-Api-Key`.
    public init(clientID: String, clientSecret: String, apiKey: String? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.apiKey = apiKey
    }

    /// The `Authorization` header of a token request.
    var authorization: String { "Basic " + Base64.encode(Array("\(clientID):\(clientSecret)".utf8)) }

    /// The secrets that the service might repeat in its responses.
    var secrets: [String] { [clientSecret, apiKey].compactMap(\.self) }
}

extension SeerCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder without the secret.
    public var description: String { "credentials" }
    /// A placeholder without the secret.
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The address and settings of the Seer service and of the queue.
public struct SeerConfiguration: Hashable, Sendable {
    /// The valid values of ``maxBatchBytes``.
    package static let batchBytesRange = 1024...1_048_576

    /// The base address of the endpoints.
    public var baseURL: HTTPURL
    /// The endpoints, by name.
    public var endpoints: SeerEndpoints
    /// Whether the queue is reported when a session starts, when the app enters the background, and before a
    /// later payload of the same type. Otherwise it is reported only on demand.
    public var autoReportQueue: Bool
    /// Whether every payload of a batch has a separate response.
    public var receiveQueuedItemResponses: Bool
    /// Whether a full queue evicts its oldest payloads; otherwise it refuses new ones.
    public var removeOldItemsWhenFullDB: Bool
    /// Whether `published` is required on every activity.
    public var isStrict: Bool
    /// The limit of the queue, in bytes of payloads.
    public var maxQueueBytes: Int
    /// The timeout of a request.
    public var requestTimeout: Duration
    /// The largest body of a batch in bytes, including the envelope; by default 102,400.
    public private(set) var maxBatchBytes = 102_400

    /// Creates a configuration with the service's defaults.
    public init(
        baseURL: HTTPURL,
        endpoints: SeerEndpoints = SeerEndpoints(),
        autoReportQueue: Bool = true,
        receiveQueuedItemResponses: Bool = false,
        removeOldItemsWhenFullDB: Bool = true,
        isStrict: Bool = false,
        maxQueueBytes: Int = 10_485_760,
        requestTimeout: Duration = .seconds(30)
    ) {
        self.baseURL = baseURL
        self.endpoints = endpoints
        self.autoReportQueue = autoReportQueue
        self.receiveQueuedItemResponses = receiveQueuedItemResponses
        self.removeOldItemsWhenFullDB = removeOldItemsWhenFullDB
        self.isStrict = isStrict
        self.maxQueueBytes = max(0, maxQueueBytes)
        self.requestTimeout = requestTimeout
    }

    /// Sets the largest body of a batch; returns false and changes nothing outside `batchBytesRange`.
    @discardableResult
    public mutating func setMaxBatchBytes(_ bytes: Int) -> Bool {
        guard Self.batchBytesRange.contains(bytes) else { return false }
        maxBatchBytes = bytes
        return true
    }
}

/// Seer's endpoints: names, and paths below the base address.
public struct SeerEndpoints: Hashable, Sendable {
    /// An endpoint's name; the set is open.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The spelling.
        public let description: String
        /// Creates a name.
        public init(stringLiteral spelling: String) { description = spelling }

        /// Tokens of OAuth 2.
        public static let token: Name = "token"
        /// One activity.
        public static let activity: Name = "activity"
        /// One piece of instrumentation.
        public static let instrumentation: Name = "instrumentation"
        /// One Tin Can statement.
        public static let tinCan: Name = "tincan"
        /// Several activities.
        public static let activityBatch: Name = "activityBatch"
        /// Several pieces of instrumentation. The service has no such endpoint: they are sent one at a time
        /// until one is added.
        public static let instrumentationBatch: Name = "instrumentationBatch"
        /// Several Tin Can statements.
        public static let tinCanBatch: Name = "tincanBatch"
    }

    /// The path of each name.
    package private(set) var paths: [Name: String] = [
        .token: "/oauth/access_token", .activity: "/sactivity", .instrumentation: "/sinstrumentation",
        .tinCan: "/tincan", .activityBatch: "/sactivity/batch", .tinCanBatch: "/tincan/batch",
    ]

    /// The service's own endpoints.
    public init() {}

    /// Adds an endpoint, or changes the path of a known one.
    public mutating func addEndpoint(_ path: String, name: Name) { paths[name] = path }
}
