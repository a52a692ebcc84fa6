// swift-tools-version: 6.1
import PackageDescription

/// The targets: below each folder, a line for each, with its name (`NAME:FOLDER` if the folder has another one) and its
/// dependencies. `JSON` is the library `InstrumentJSON`; names of `externals`, of the system and of what tests share
/// stand for themselves; `@linux` is a dependency on Linux alone.
let table = """
    // Players, the app's life, sensors. Only the probe links FFmpeg, and only the trackers of libVLC, GStreamer and
    // libmpv link these. On Linux, the targets of Apple's players and SwiftUI have their pure models alone; elsewhere,
    // those of these libraries.
    Sources/Trackers:
      Trackers:Lifecycle           Files@linux CSignalShim@linux
      ServiceLifecycle             Trackers UnixServiceLifecycle
      SwiftUI
      Sensors                      Files JSON Text
      MPV                          Files JSON Sockets Text Trackers
      Chrome                       Files JSON Sockets Text
      VLC                          CVLC@linux CVLCShim@linux
      VLCRemote                    JSON Sockets Text
      LibMPV                       JSON MPV CMPV@linux
      GStreamer                    CGStreamer@linux CGStreamerShim@linux
      AVPlayer
      IMA                          GoogleAds
      Probe                        Ads CMCD HTTP JSON Manifests PictureChecks Text Transport XML CFFmpeg CProbeShim
    Sources/Metricalcs:
      Quality
      Sampling                     Files HTTP JSON Quality
    // Only the durable queue links GRDB.
    Sources/Queue:
      DurableQueue:Durable         Files Text CDurableShim GRDB DurableQueueTrait
      Observability                Logging CoreMetrics ObservabilityTrait
    // BackendKinds is what command lines know of a backend: no backend depends on it.
    Sources/Backends:
      Backends:Local               Compression Files JSON Terminal Text
      BackendKinds:Kinds           Files HTTP Text
      Beacons                      Ads HTTP
      CMCDBackend:CMCD             CMCD HTTP
      Clickstream                  HTTP JSON Text
      Graphite                     Sockets Text
      Influx                       Compression HTTP JSON Text
      Kafka                        Backends HTTP Text CKafka
      NATS                         Backends HTTP JSON Sockets TLS Text COpenSSL
      NewRelic                     Compression HTTP JSON Text
      OTLP                         Compression HTTP JSON Text
      Seer                         HTTP JSON Text XAPI
      Sift                         Compression Files HTTP JSON Sensors Text
      XAPI                         Compression Files HTTP JSON Terminal Text
    // Formats and rules of media. No I/O.
    Sources/Media:
      Ads                          HTTP JSON Manifests Text XML
      CMCD                         Text
      Manifests                    HTTP JSON Text XML
      PictureChecks
      Rules                        Ads HTTP Manifests Text XML
    // The configuration (the only target that links Yams), the monitor as a value, checks, the monitor at work.
    Sources/Monitor:
      Watch:Configuration          BackendKinds Files HTTP Rules Text Yams CommandLineTrait
      Monitor:Model                HTTP JSON Quality Terminal Text Watch
      Check                        HTTP Manifests PictureChecks Probe Rules Text
      MonitorRuntime:Runtime       Check Chrome Files HTTP JSON Manifests Monitor PageDesign Probe Quality Rules \
                                   Sockets TLS Terminal Text Transport Watch NIOCore NIOHTTP1 NIOPosix OriginTrait
    // What command lines are made of.
    Sources/Tools:
      CommandLine                  BackendKinds Files Terminal Text CAllocatorShim ArgumentParser CommandLineTrait
      Commands                     Ads BackendKinds Backends Beacons CMCD CMCDBackend Check Chrome Clickstream \
                                   CommandLine Compression DurableQueue Files Graphite HTTP Influx JSON Kafka MPV \
                                   Manifests Monitor MonitorRuntime NATS NewRelic OTLP Probe Quality Replay Report \
                                   Rules Seer Sensors Sift TLS Terminal Text Trackers Transport VLCRemote Watch XAPI \
                                   ArgumentParser
      Replay                       Backends DurableQueue Files
      Report                       Ads JSON PageDesign Quality Terminal Text
    // For tests, ours and those of others. FrameCode: the number of each frame in the picture of test media.
    Sources/Testing:
      TestKit                      Trackers
      Origin                       Ads Files FrameCode HTTP JSON Text NIOCore NIOPosix OriginTrait
      FrameCode                    Compression
    // What several rooms share. Knows nothing of trackers and backends.
    Sources/Support:
      Text
      PageDesign                   Terminal Text
      Files                        Text
      Sockets                      Text
      TLS                          Sockets COpenSSL
      JSON                         Text
      XML
      HTTP                         JSON Text
      Transport                    Compression Files HTTP Text CCurl@linux CTransportShim@linux
      Compression                  HTTP CZlib
      Terminal                     CSignalShim
    // C code that Swift cannot express.
    Sources/System:
      CAllocatorShim
      CDurableShim
      CGStreamerShim               CGStreamer@linux
      CProbeShim                   CFFmpeg
      CSignalShim
      CTransportShim               CCurl@linux
      CVLCShim                     CVLC@linux
    Examples:
      PlayerMonitor                Commands
      TestOrigin                   ArgumentParser CommandLine Files Origin Terminal
    Tests:
      Instrument
      Hubs
    Tests/Metricalcs:
      Quality                      Backends HTTP Quality Sampling
    Tests/Queue:
      DurableQueue:Durable         Backends Compression DurableQueue Transport PoolChild QueueChild QueueChildPlan \
                                   QueueTorture GRDB
      Observability                Observability MetricsTestKit
    Tests/Trackers:
      Trackers:Lifecycle           Backends Trackers LifecycleChild
      Sensors                      Compression JSON Sensors Sift Text Trackers Transport SensorsChild
      MPV                          JSON MPV Sockets Text Trackers MPVChild
      Chrome                       Chrome JSON Origin
      VLC                          FrameCode Origin VLC CVLC@linux TruthStage VLCStage
      VLCRemote                    JSON Origin VLCRemote
      LibMPV                       JSON LibMPV MPV Origin CMPV@linux
      GStreamer                    FrameCode GStreamer Origin GStreamerStage TruthStage
      AVPlayer                     AVPlayer
      IMA                          IMA
      Probe                        Ads CMCD HTTP Manifests Origin Probe Transport CFFmpeg NIOCore
      AdPlayback                   Ads Beacons HTTP JSON Origin Probe Transport PlayerMonitor
    Tests/Backends:
      Backends:Local               Backends Compression JSON
      Clickstream                  Clickstream DurableQueue JSON Text Transport
      Kafka                        Backends DurableQueue JSON Kafka Quality Text CKafka KafkaClusterChild QueueChild \
                                   QueueTorture
      NATS                         Backends DurableQueue HTTP JSON NATS Sockets Text QueueChild QueueTorture
      OpenBackend:Open             CMCD CMCDBackend Compression DurableQueue Graphite HTTP Influx JSON NewRelic OTLP \
                                   Transport QueueChild QueueTorture
      Seer                         DurableQueue JSON Seer Transport XAPI
      ServiceFault:ServiceFaults   CMCD CMCDBackend Clickstream Compression DurableQueue HTTP Influx JSON NewRelic \
                                   OTLP Seer Sift Transport XAPI
      Sift                         Compression DurableQueue JSON Sensors Sift Transport
      XAPI                         Backends JSON Text Transport XAPI
    Tests/Media:
      Ads                          Ads Beacons DurableQueue HTTP JSON Manifests Text Transport
      Manifests                    HTTP Manifests
      PictureChecks                PictureChecks Probe
      Rules                        Check HTTP Manifests Origin Rules NIOCore
    Tests/Monitor:
      Watch:Configuration          BackendKinds HTTP Text Watch
      Monitor:Runtime              BackendKinds Backends Check HTTP JSON Monitor MonitorRuntime Origin Terminal Text \
                                   Transport Watch PlayerMonitor
    Tests/Tools:
      CommandLine                  BackendKinds CommandLine Terminal
      PlayerMonitor                BackendKinds Backends CommandLine Commands Compression JSON Monitor Origin Probe \
                                   Sensors Transport Watch PlayerMonitor ArgumentParser
      Replay                       Ads Backends Compression DurableQueue JSON Quality Replay
      Report                       JSON Quality Report Terminal
    Tests/Testing:
      Origin                       Ads HTTP Manifests Origin Text TestOrigin NIOCore
      FrameCode                    FrameCode Origin TruthStage
      TestKit                      Trackers
    Tests/Support:
      Files                        Files
      JSON                         JSON Text
      Terminal                     Terminal
      Text                         Text
      Transport                    Compression Files HTTP Transport CCurl CTestResolver CTransportShim
    Tests/Shared:
      LoopbackServers              Instrument
      TestTraits                   Instrument LoopbackServers
      TruthStage                   Instrument FrameCode JSON Origin
      VLCStage                     Instrument FrameCode VLC TruthStage CVLC@linux
      GStreamerStage               Instrument FrameCode GStreamer TruthStage CGStreamer@linux
      LibMPVStage                  Instrument FrameCode LibMPV MPV TruthStage CMPV@linux
      QueueTorture                 Instrument TestKit LoopbackServers QueueChildPlan
      CostMeasurement
      CTestResolver
      QueueChildPlan
    Tests/Processes:
      KafkaClusterChild            CKafka
      LifecycleChild               Backends DurableQueue Sensors Trackers
      MPVChild                     MPV
      PlayerTruth                  Chrome FrameCode Origin Probe GStreamerStage LibMPVStage LoopbackServers TruthStage \
                                   VLCStage ArgumentParser
      PoolChild                    DurableQueue Transport LoopbackServers
      QueueChild                   Ads Backends Beacons DurableQueue Influx Kafka NATS TestKit Transport CDurableShim \
                                   LoopbackServers QueueChildPlan
      SensorsChild                 Sensors
    """

/// A library of another package, which is resolved, fetched and built only while a trait of this package is enabled.
func external(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait, "Everything"]))
}

let externals: [Substring: Target.Dependency] = [
    "ArgumentParser": external("ArgumentParser", of: "swift-argument-parser", trait: "CommandLine"),
    "CoreMetrics": external("CoreMetrics", of: "swift-metrics", trait: "Observability"),
    "GRDB": external("GRDB", of: "GRDB.swift", trait: "DurableQueue"),
    // Google's SDK for ads is a binary for iOS, and not in the default.
    "GoogleAds": .product(
        name: "GoogleInteractiveMediaAds",
        package: "swift-package-manager-google-interactive-media-ads-ios",
        condition: .when(platforms: [.iOS], traits: ["IMA"])
    ),
    "Logging": external("Logging", of: "swift-log", trait: "Observability"),
    "MetricsTestKit": external("MetricsTestKit", of: "swift-metrics", trait: "Observability"),
    "NIOCore": external("NIOCore", of: "swift-nio", trait: "Origin"),
    "NIOHTTP1": external("NIOHTTP1", of: "swift-nio", trait: "Origin"),
    "NIOPosix": external("NIOPosix", of: "swift-nio", trait: "Origin"),
    "UnixServiceLifecycle": external("ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
    "Yams": external("Yams", of: "Yams", trait: "CommandLine"),
]

/// Files that are constants of a library's `PackageResources`.
let embeddedFiles: [Substring: [String]] = [
    "Chrome": "ads observer players search".split(separator: " ").map { "Page/\($0).js" },
    "MonitorRuntime": ["Page/dashboard.css", "Page/dashboard.html", "Page/month.css"]
        + "actions dom overview page panel places requests rows store timeline units".split(separator: " ")
        .map { "Page/\($0).js" },
    "PageDesign": ["document.css", "tokens.css"],
    "Report": ["Page/report.css", "Page/report.js"],
]

/// What the folders of suites have beside their sources.
let excludedFiles: [Substring: [String]] = [
    "Ads": ["Oracle"], "DurableQueue": ["FaultShim"], "OpenBackend": ["OTLP/decode.py"], "PlayerMonitor": ["Golden"],
    "Sift": ["Golden"], "XAPI": ["LRS/serve.py"],
]

/// Privacy manifests are resources for Xcode. On Linux a resource would link Foundation to its target.
#if os(Linux)
func privacyManifest(_ file: String) -> (excluded: [String], resources: [Resource]) { ([file], []) }
#else
func privacyManifest(_ file: String) -> (excluded: [String], resources: [Resource]) { ([], [.process(file)]) }
#endif

/// A system library.
func system(_ name: String, _ pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/System/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([apt])] + (brew.map { [.brew([$0])] } ?? [])
    )
}

let systemLibraries = [
    system("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
    system("CFFmpeg", "libavformat libavcodec libavutil", apt: "libavformat-dev", brew: "ffmpeg"),
    system("CGStreamer", "gstreamer-1.0 gstreamer-base-1.0", apt: "libgstreamer1.0-dev"),
    system("CKafka", "rdkafka", apt: "librdkafka-dev", brew: "librdkafka"),
    system("CMPV", "mpv", apt: "libmpv-dev"),
    system("COpenSSL", "openssl", apt: "libssl-dev", brew: "openssl@3"),
    system("CVLC", "libvlc", apt: "libvlc-dev"),
    system("CZlib", "zlib", apt: "zlib1g-dev"),
]

/// The vocabulary, the chain with its hubs and metricalcs, the typed app events and the shared queue. Depends on no
/// other target.
let vocabulary = Target.target(
    name: "Instrument",
    path: "Sources",
    exclude: [
        "Instrument/Instrument.docc", "Backends", "Media", "Metricalcs/Quality", "Metricalcs/Sampling", "Monitor",
        "Queue/Durable", "Queue/Observability", "Support", "System", "Testing", "Tools", "Trackers",
    ] + privacyManifest("Instrument/PrivacyInfo.xcprivacy").excluded,
    sources: ["Instrument", "Hubs", "Metricalcs/Core", "Queue/Batching"],
    resources: privacyManifest("Instrument/PrivacyInfo.xcprivacy").resources
)

/// The words of the lines below each folder of the table, with the folder.
let rows: [(folder: Substring, words: [Substring])] = {
    var folder: Substring = ""
    return table.split(separator: "\n").compactMap { line in
        if line.hasSuffix(":") { folder = line.dropLast() }
        return line.hasPrefix("  ") ? (folder, line.split(separator: " ")) : nil
    }
}()

/// Whether the names of a folder's targets stand for themselves.
func isPlain(_ folder: Substring) -> Bool {
    ["Sources/System", "Examples", "Tests/Shared", "Tests/Processes"].contains(folder)
}

let plainNames = Set(
    ["Instrument"] + systemLibraries.map { Substring($0.name) } + rows.filter { isPlain($0.folder) }.map(\.words[0])
)

func dependency(_ word: Substring) -> Target.Dependency {
    let name = word.prefix { $0 != "@" }
    if let library = externals[name] { return library }
    let target = plainNames.contains(name) ? String(name) : "Instrument\(name)"
    return name == word ? .byName(name: target) : .target(name: target, condition: .when(platforms: [.linux]))
}

func target(_ folder: Substring, _ words: [Substring]) -> Target {
    let (name, uses) = (words[0].prefix { $0 != ":" }, words.dropFirst().map(dependency))
    let path = "\(folder)/\(words[0].split(separator: ":").last ?? name)"
    switch folder {
    case "Sources/System", "Tests/Shared": return .target(name: String(name), dependencies: uses, path: path)
    // The command lines. No library depends on them.
    case "Examples": return .executableTarget(name: String(name), dependencies: uses, path: path)
    // Programs that tests start, stop and kill.
    case "Tests/Processes":
        return .executableTarget(name: String(name), dependencies: ["Instrument"] + uses, path: path)
    case _ where folder.hasPrefix("Tests"):
        let shared: [Target.Dependency] = [
            "Instrument", "CostMeasurement", "LoopbackServers", "TestTraits", "InstrumentTestKit",
        ]
        let files = excludedFiles[name] ?? []
        return .testTarget(name: "\(name)Tests", dependencies: shared + uses, path: path, exclude: files)
    default:
        let manifest = name == "Sensors" ? privacyManifest("PrivacyInfo.xcprivacy") : ([], [])
        return .target(
            name: "Instrument\(name)",
            // Text that is safe to write to a terminal needs no vocabulary.
            dependencies: name == "Terminal" ? uses : ["Instrument"] + uses,
            path: path,
            exclude: manifest.0,
            resources: (embeddedFiles[name] ?? []).map { .embedInCode($0) } + manifest.1
        )
    }
}

/// A target that needs a trait depends on a target that fails without the trait, with one message: the files that
/// import the trait's libraries are not compiled then.
let traitTargets = ["CommandLine", "DurableQueue", "Observability", "Origin"].map { trait in
    Target.target(name: "Instrument\(trait)Trait", path: "Sources/Support/Traits/\(trait)")
}

/// The product `InstrumentNAME` of libraries; of the one with its name, if none is given.
func product(_ name: String, _ libraries: String? = nil) -> Product {
    let libraries = (libraries ?? name).split(separator: " ")
    return .library(name: "Instrument\(name)", targets: libraries.map { "Instrument\($0)" })
}

let package = Package(
    name: "instrument",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Instrument", targets: ["Instrument"]),
        // Deliver samples. zlib is the only library that backends and services link, except those for Kafka and NATS.
        // Services are a separate product, because a first app with a console builds in a third of the time without
        // them (docs/measurements.md).
        product("Backends"),
        product("Services", "CMCD CMCDBackend Clickstream Graphite Influx NewRelic OTLP Seer XAPI"),
        product("Kafka"), product("NATS"), product("Transport", "Transport HTTP JSON"),
        product("DurableQueue"), product("Observability"),
        // Observe players, the app and the device. Sift is in the product of the sensors, whose frameworks it needs on
        // Apple platforms.
        product("Trackers", "Trackers ServiceLifecycle MPV VLCRemote"),
        product("Chrome"), product("VLC"), product("GStreamer"), product("LibMPV"),
        product("Apple", "AVPlayer IMA SwiftUI"), product("Sensors", "Sensors Sift"),
        // Play and measure streams. What is pure is apart from the probe, which links FFmpeg.
        product("Probe", "Probe Ads Manifests"),
        product("Media", "Manifests Rules Ads Beacons"),
        product("Quality", "Quality Sampling"),
        // For tests.
        product("TestKit"), product("Origin"),
        // The commands of `player-monitor` without its entry point.
        product("Commands", "Commands BackendKinds"),
        .executable(name: "player-monitor", targets: ["PlayerMonitor"]),
        .executable(name: "test-origin", targets: ["TestOrigin"]),
    ],
    // An app resolves the packages of the traits that it enables, and no others: `traits: []` in its dependency on this
    // package needs none of the packages below; `traits: ["DurableQueue"]` needs GRDB. The default enables everything,
    // so that a plain `swift build` works in a checkout, and an app that knows nothing of traits gets everything. Xcode
    // builds a package that is opened by itself with the default. The default is one trait, because SwiftPM 6.3 passes
    // the names of several to the compiler in another order each time, and then builds everything again.
    traits: [
        .default(enabledTraits: ["Everything"]),
        .trait(name: "Everything", description: "All of the traits below but IMA: what this package builds and tests."),
        .trait(
            name: "CommandLine",
            description: "The command lines: swift-argument-parser, Yams, and what DurableQueue and Origin need.",
            enabledTraits: ["DurableQueue", "Origin"]
        ),
        .trait(name: "DurableQueue", description: "The queue on disk: GRDB."),
        .trait(name: "IMA", description: "Ads of Google's IMA SDK for iOS, which it fetches. Not in the default."),
        .trait(name: "Observability", description: "Diagnostics for swift-log and swift-metrics."),
        .trait(name: "Origin", description: "The test origin: SwiftNIO."),
        .trait(name: "ServiceLifecycle", description: "An instrument as a service of swift-service-lifecycle."),
    ],
    // Each is used behind a trait; scripts/check-embedding.sh fails where one is not.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(
            url: "https://github.com/googleads/swift-package-manager-google-interactive-media-ads-ios",
            from: "3.19.0"
        ),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [vocabulary] + systemLibraries + rows.map(target) + traitTargets,
    swiftLanguageModes: [.v6]
)

// One loop gives every Swift target the same settings.
for target in package.targets where target.type != .system && !target.name.hasPrefix("C") {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
