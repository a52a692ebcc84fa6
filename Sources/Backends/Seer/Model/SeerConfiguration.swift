public import InstrumentHTTP

/// What Seer knows an app by. Kept in memory alone: no description, log, error or file of ours shows it.
public struct SeerCredentials: Hashable, Sendable {
    let clientID: String
    let clientSecret: String
    let apiKey: String?

    /// Creates credentials; the key goes with every request in `X-Api-Key`, if there is one.
    public init(clientID: String, clientSecret: String, apiKey: String? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.apiKey = apiKey
    }

    /// What a token is asked for with.
    var authorization: String { "Basic " + Base64.encode(Array("\(clientID):\(clientSecret)".utf8)) }

    /// What the service may repeat and nobody may see.
    var secrets: [String] { [clientSecret, apiKey].compactMap(\.self) }
}

extension SeerCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there are some.
    public var description: String { "credentials" }
    /// That there are some.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// How Seer is spoken to, and by which rules payloads wait.
public struct SeerConfiguration: Hashable, Sendable {
    /// How many bytes a batch may be set to have.
    public static let batchBytesRange = 1024...1_048_576

    /// Where the service is; endpoints stand below it.
    public var baseURL: HTTPURL
    /// Names and paths.
    public var endpoints: SeerEndpoints
    /// Whether what waits is sent when a session starts, when the app enters the background, and before a later payload of its
    /// type. Otherwise only on demand.
    public var autoReportQueue: Bool
    /// Whether every payload of a batch gets a response of its own.
    public var receiveQueuedItemResponses: Bool
    /// Whether the oldest make room in a full queue; otherwise the new one is refused.
    public var removeOldItemsWhenFullDB: Bool
    /// Whether activities have to say when they were published.
    public var isStrict: Bool
    /// How many bytes of payloads the queue holds.
    public var maxQueueBytes: Int
    /// How long a request may take.
    public var requestTimeout: Duration
    /// The most bytes of a batch's body, the envelope included; by default 102,400.
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

    /// Sets how large a batch may be; false, and all stays as it is, outside ``batchBytesRange``.
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
        /// Several pieces of instrumentation; the service has none, so that they go one at a time until one is added.
        public static let instrumentationBatch: Name = "instrumentationBatch"
        /// Several Tin Can statements.
        public static let tinCanBatch: Name = "tincanBatch"
    }

    /// The path of each name.
    public private(set) var paths: [Name: String] = [
        .token: "/oauth/access_token", .activity: "/sactivity", .instrumentation: "/sinstrumentation",
        .tinCan: "/tincan", .activityBatch: "/sactivity/batch", .tinCanBatch: "/tincan/batch",
    ]

    /// The service's own endpoints.
    public init() {}

    /// Adds an endpoint, or gives a known one another path.
    public mutating func addEndpoint(_ path: String, name: Name) { paths[name] = path }
}
