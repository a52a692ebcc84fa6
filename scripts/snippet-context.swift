// Names that code in the documentation may use without declaring them; see check-snippets.sh. Only type-checked, never
// run.
public import CGStreamer
public import CMPV
public import CVLC
public import Instrument
public import InstrumentAds
public import InstrumentBackendKinds
public import InstrumentBackends
public import InstrumentBeacons
public import InstrumentCMCD
public import InstrumentCMCDBackend
public import InstrumentCheck
public import InstrumentChrome
public import InstrumentClickstream
public import InstrumentCommands
public import InstrumentDurableQueue
public import InstrumentGStreamer
public import InstrumentGraphite
public import InstrumentHTTP
public import InstrumentInflux
public import InstrumentJSON
public import InstrumentKafka
public import InstrumentLibMPV
public import InstrumentMPV
public import InstrumentManifests
public import InstrumentNATS
public import InstrumentNewRelic
public import InstrumentOTLP
public import InstrumentObservability
public import InstrumentOrigin
public import InstrumentProbe
public import InstrumentQuality
public import InstrumentRules
public import InstrumentSampling
public import InstrumentSeer
public import InstrumentSensors
public import InstrumentSift
public import InstrumentTestKit
public import InstrumentTrackers
public import InstrumentTransport
public import InstrumentVLC
public import InstrumentVLCRemote
public import InstrumentWatch
public import InstrumentXAPI
public import Logging

public func placeholder<Value>() -> Value { fatalError("snippets do not run") }

// The chain.
public let instrument: Instrument = placeholder()
public let backend = CollectingBackend()
public let queue: BatchQueue = placeholder()
public let store: any SampleStore = placeholder()
public let clock = VirtualClock()
public let tracker: TrackerID = placeholder()
public let id: TrackerID = placeholder()
public let player = ScriptedPlayer()
public let currentPosition = Duration.zero
public let duration = Duration.zero
public let salt = "salt"
public nonisolated(unsafe) var event: Event = placeholder()

public struct MyBackend: Backend {
    public var name: BackendName { "mine" }
    public init(url: HTTPURL = placeholder()) {}
    public func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}

public struct Collector: Backend {
    public var name: BackendName { "collector" }
    public init(url: HTTPURL, transport: any HTTPTransport) {}
    public func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}

public struct Server: Sendable {
    public let url: HTTPURL
    public var identifiers: [SampleID] { placeholder() }
}

public let server: Server = placeholder()

extension Action { public static var menuOpen: Action { Action("MenuOpen") } }
extension Action { public static var menuClose: Action { Action("MenuClose") } }
extension MetricName { public static var menuOpens: Self { Self("MenuOpens", .counter) } }
extension MetricName { public static var menuTime: Self { Self("MenuTime", .gauge, unit: .milliseconds) } }
extension Action { public static var like: Action { Action("Like") } }
extension AttributeKey where Value == Int { public static var score: Self { "score" } }
extension AttributeKey where Value == Double { public static var latitude: Self { "latitude" } }
extension AttributeKey where Value == String { public static var filmID: Self { "filmID" } }

// libVLC.
public nonisolated(unsafe) let handle: OpaquePointer = placeholder()
public nonisolated(unsafe) let instance: OpaquePointer = placeholder()
public nonisolated(unsafe) let vlc: OpaquePointer = placeholder()

// GStreamer.
public nonisolated(unsafe) let pipeline: UnsafeMutablePointer<GstElement> = placeholder()

// Manifests and ads.
public let samplingKey: SamplingKey = placeholder()
public let segment: [UInt8] = placeholder()
public let adPlayer: any AdPlayer = placeholder()
public let ads = AdsTracker()
public func play(_ file: MediaFile?) {}

// Requests.
public let transport: any HTTPTransport = placeholder()
public let url: HTTPURL = placeholder()
public let password: String = placeholder()
public let licenseKey: String = placeholder()
public let token: String = placeholder()
public let response: HTTPResponse = placeholder()
public let headers = HTTPHeaders()
public let bytes: [UInt8] = []
public func encode(_ batch: Batch) -> [UInt8] { placeholder() }

// Services.
public let endpoint: HTTPURL = placeholder()
public let stagingURL: HTTPURL = placeholder()
public let delegate: any ClickstreamDelegate = placeholder()
public let credentials: SiftCredentials = placeholder()
public let file: MediaFile = placeholder()
public let stream: Seer.ActivityStream = placeholder()
public let viewer: Statement.Actor = placeholder()
public let json: JSONValue = placeholder()
public let directory = "/var/lib/my-app"
public let account = "account"
public let key = "key"
public let secret = "secret"
public func send(_ statement: Statement) {}

// Streams.
public let probes: [Probe] = []
public let probe: Probe = placeholder()
public let beacons: Beacons = placeholder()
public let cache = "/var/cache/media"
public func play(_ url: String) {}

// Sensors and the app's life.
public let sensors: Sensors = placeholder()
public let state: AppState = placeholder()
public let path = "/var/lib/my-app/sensors.json"
public let signals: SignalLifecycle = placeholder()
public let collector: AppStateCollector = placeholder()
public let appStateCollector: AppStateCollector = placeholder()
public let deviceCollector: DevicePropertiesCollector = placeholder()

// Ads and quality.
public let tag: AdURL = placeholder()
public let ad: ResolvedAd = placeholder()
public let events: [Event] = []
public let session: QualitySession = placeholder()
public func use(_ session: QualitySession) {}
public let playback = "playback"
public let content: TrackerID = placeholder()
public let selection: AdSelection = placeholder()

// Rules and picture checks.
public let body: [UInt8] = []
public let houseRule: Rule = placeholder()

/// A backend of somebody else, and its kind for a command line.
public struct AcmeBackend: Backend {
    public let name: BackendName = "acme"
    public init(
        _ url: HTTPURL,
        key: String,
        transport: any HTTPTransport,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) {}
    public func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}
public let acmeKind = BackendKind("acme", summary: "Acme") { _ in ConsoleBackend.standardOutput() }
