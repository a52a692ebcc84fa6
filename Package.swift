// swift-tools-version: 6.1
import PackageDescription

/// A library of another package, which is resolved, fetched and built only while a trait of this package is enabled.
func external(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait, "Everything"]))
}

let argumentParser = external("ArgumentParser", of: "swift-argument-parser", trait: "CommandLine")
let grdb = external("GRDB", of: "GRDB.swift", trait: "DurableQueue")
let logging = external("Logging", of: "swift-log", trait: "Observability")
let metrics = external("CoreMetrics", of: "swift-metrics", trait: "Observability")
let metricsTestKit = external("MetricsTestKit", of: "swift-metrics", trait: "Observability")
let nioCore = external("NIOCore", of: "swift-nio", trait: "Origin")
let nioHTTP1 = external("NIOHTTP1", of: "swift-nio", trait: "Origin")
let nioPosix = external("NIOPosix", of: "swift-nio", trait: "Origin")
let serviceLifecycle = external("ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle")
/// Google's SDK for ads is a binary for iOS, and not in the default.
let googleAds = Target.Dependency.product(
    name: "GoogleInteractiveMediaAds",
    package: "swift-package-manager-google-interactive-media-ads-ios",
    condition: .when(platforms: [.iOS], traits: ["IMA"])
)
let yams = external("Yams", of: "Yams", trait: "CommandLine")

/// Libraries of this package: "JSON Text" are `InstrumentJSON` and `InstrumentText`.
func libraries(_ names: String) -> [Target.Dependency] {
    names.split(separator: " ").map { .byName(name: "Instrument\($0)") }
}

func onLinux(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.linux])) }

/// Privacy manifests are resources for Xcode. On Linux a resource would link Foundation to its target.
#if os(Linux)
func privacyManifest(_ file: String) -> (excluded: [String], resources: [Resource]) { ([file], []) }
#else
func privacyManifest(_ file: String) -> (excluded: [String], resources: [Resource]) { ([], [.process(file)]) }
#endif

/// The library `InstrumentNAME` in a folder of `Sources`. Every library depends on the vocabulary, `Instrument`.
/// Embedded files are constants of `PackageResources`.
func library(
    _ name: String,
    _ folder: String,
    uses names: String = "",
    and others: [Target.Dependency] = [],
    embedding files: [String] = [],
    privacy manifest: (excluded: [String], resources: [Resource]) = ([], [])
) -> Target {
    .target(
        name: "Instrument\(name)",
        dependencies: ["Instrument"] + libraries(names) + others,
        path: "Sources/\(folder)",
        exclude: manifest.excluded,
        resources: files.map { .embedInCode($0) } + manifest.resources
    )
}

/// A system library, or C code that Swift cannot express.
func system(_ name: String, pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/System/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([apt])] + (brew.map { [.brew([$0])] } ?? [])
    )
}

func shim(_ name: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/System/\(name)")
}

/// The suites `NAMETests` in a folder of `Tests`, with what tests share.
func tests(
    _ name: String,
    _ folder: String,
    uses names: String = "",
    and others: [Target.Dependency] = [],
    excluding files: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: ["Instrument", "CostMeasurement", "LoopbackServers", "TestTraits"] + libraries("TestKit \(names)")
            + others,
        path: "Tests/\(folder)",
        exclude: files
    )
}

/// What tests share: `Tests/Shared/NAME`.
func shared(_ name: String, uses names: String = "", and others: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: ["Instrument"] + libraries(names) + others, path: "Tests/Shared/\(name)")
}

/// A program that tests start, stop and kill: `Tests/Processes/NAME`.
func process(_ name: String, uses names: String = "", and others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Instrument"] + libraries(names) + others,
        path: "Tests/Processes/\(name)"
    )
}

let package = Package(
    name: "instrument",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Instrument", targets: ["Instrument"]),
        // Deliver samples. zlib is the only library that backends and services link, except those for Kafka and NATS.
        // Services are a separate product, because a first app with a console builds in a third of the time without
        // them (docs/measurements.md).
        .library(name: "InstrumentBackends", targets: ["InstrumentBackends"]),
        .library(
            name: "InstrumentServices",
            targets: [
                "InstrumentCMCD", "InstrumentCMCDBackend", "InstrumentClickstream", "InstrumentGraphite",
                "InstrumentInflux", "InstrumentNewRelic", "InstrumentOTLP", "InstrumentSeer", "InstrumentXAPI",
            ]
        ),
        .library(name: "InstrumentKafka", targets: ["InstrumentKafka"]),
        .library(name: "InstrumentNATS", targets: ["InstrumentNATS"]),
        .library(name: "InstrumentTransport", targets: ["InstrumentTransport", "InstrumentHTTP", "InstrumentJSON"]),
        .library(name: "InstrumentDurableQueue", targets: ["InstrumentDurableQueue"]),
        .library(name: "InstrumentObservability", targets: ["InstrumentObservability"]),
        // Observe players, the app and the device. Sift is in the product of the sensors, whose frameworks it needs on
        // Apple platforms.
        .library(
            name: "InstrumentTrackers",
            targets: ["InstrumentTrackers", "InstrumentServiceLifecycle", "InstrumentMPV"]
        ),
        .library(name: "InstrumentChrome", targets: ["InstrumentChrome"]),
        .library(name: "InstrumentVLC", targets: ["InstrumentVLC"]),
        .library(name: "InstrumentGStreamer", targets: ["InstrumentGStreamer"]),
        .library(name: "InstrumentLibMPV", targets: ["InstrumentLibMPV"]),
        .library(name: "InstrumentApple", targets: ["InstrumentAVPlayer", "InstrumentIMA", "InstrumentSwiftUI"]),
        .library(name: "InstrumentSensors", targets: ["InstrumentSensors", "InstrumentSift"]),
        // Play and measure streams. What is pure is apart from the probe, which links FFmpeg.
        .library(name: "InstrumentProbe", targets: ["InstrumentProbe", "InstrumentAds", "InstrumentManifests"]),
        .library(
            name: "InstrumentMedia",
            targets: [
                "InstrumentManifests", "InstrumentRules", "InstrumentPictureChecks", "InstrumentAds",
                "InstrumentBeacons",
            ]
        ),
        .library(name: "InstrumentQuality", targets: ["InstrumentQuality", "InstrumentSampling"]),
        // For tests.
        .library(name: "InstrumentTestKit", targets: ["InstrumentTestKit"]),
        .library(name: "InstrumentOrigin", targets: ["InstrumentOrigin"]),
        // The commands of `player-monitor` without its entry point.
        .library(name: "InstrumentCommands", targets: ["InstrumentCommands", "InstrumentBackendKinds"]),
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
    targets: [
        // The vocabulary, the chain with its hubs and metricalcs, the typed app events and the shared queue. Depends on
        // no other target.
        .target(
            name: "Instrument",
            path: "Sources",
            exclude: [
                "Instrument/Instrument.docc", "Backends", "Media", "Metricalcs/Quality", "Metricalcs/Sampling",
                "Monitor",
                "Queue/Durable", "Queue/Observability", "Support", "System", "Testing", "Tools", "Trackers",
            ] + privacyManifest("Instrument/PrivacyInfo.xcprivacy").excluded,
            sources: ["Instrument", "Hubs", "Metricalcs/Core", "Queue/Batching"],
            resources: privacyManifest("Instrument/PrivacyInfo.xcprivacy").resources
        ),

        // Trackers: players, the app's life, sensors. Only the probe links FFmpeg, and only the trackers of libVLC,
        // GStreamer and libmpv link these. On Linux, the targets of Apple's players and SwiftUI have their pure models
        // alone; elsewhere, those of these libraries.
        library("Trackers", "Trackers/Lifecycle", and: [onLinux("InstrumentFiles"), onLinux("CSignalShim")]),
        library("ServiceLifecycle", "Trackers/ServiceLifecycle", uses: "Trackers", and: [serviceLifecycle]),
        library("SwiftUI", "Trackers/SwiftUI"),
        library(
            "Sensors",
            "Trackers/Sensors",
            uses: "Files JSON Text",
            privacy: privacyManifest("PrivacyInfo.xcprivacy")
        ),
        library("MPV", "Trackers/MPV", uses: "Files JSON Sockets Text Trackers"),
        library(
            "Chrome",
            "Trackers/Chrome",
            uses: "Files JSON Sockets Text",
            embedding: ["Page/observer.js", "Page/players.js"]
        ),
        library("VLC", "Trackers/VLC", and: [onLinux("CVLC"), onLinux("CVLCShim")]),
        library("LibMPV", "Trackers/LibMPV", uses: "JSON MPV", and: [onLinux("CMPV")]),
        library("GStreamer", "Trackers/GStreamer", and: [onLinux("CGStreamer"), onLinux("CGStreamerShim")]),
        library("AVPlayer", "Trackers/AVPlayer"),
        library("IMA", "Trackers/IMA", and: [googleAds]),
        library(
            "Probe",
            "Trackers/Probe",
            uses: "Ads CMCD HTTP JSON Manifests PictureChecks Transport XML",
            and: ["CFFmpeg", "CProbeShim"]
        ),

        // Metricalcs and stores beyond the core. Only the durable queue links GRDB.
        library("Quality", "Metricalcs/Quality"),
        library("Sampling", "Metricalcs/Sampling", uses: "Files HTTP JSON Quality"),
        library(
            "DurableQueue",
            "Queue/Durable",
            uses: "Files Text",
            and: ["CDurableShim", grdb, "InstrumentDurableQueueTrait"]
        ),
        library("Observability", "Queue/Observability", and: [logging, metrics, "InstrumentObservabilityTrait"]),

        // Backends. Each external library has one owner: librdkafka Kafka.
        library("Backends", "Backends/Local", uses: "Compression Files JSON Terminal Text"),
        // What command lines know of a backend: no backend depends on these kinds.
        library("BackendKinds", "Backends/Kinds", uses: "Files HTTP Text"),
        library("Beacons", "Backends/Beacons", uses: "Ads HTTP"),
        library("CMCDBackend", "Backends/CMCD", uses: "CMCD HTTP"),
        library("Clickstream", "Backends/Clickstream", uses: "HTTP JSON Text"),
        library("Graphite", "Backends/Graphite", uses: "Sockets Text"),
        library("Influx", "Backends/Influx", uses: "Compression HTTP JSON Text"),
        library("Kafka", "Backends/Kafka", uses: "Backends HTTP Text", and: ["CKafka"]),
        library("NATS", "Backends/NATS", uses: "Backends HTTP JSON Sockets TLS Text", and: ["COpenSSL"]),
        library("NewRelic", "Backends/NewRelic", uses: "Compression HTTP JSON Text"),
        library("OTLP", "Backends/OTLP", uses: "Compression HTTP JSON Text"),
        library("Seer", "Backends/Seer", uses: "HTTP JSON Text XAPI"),
        library("Sift", "Backends/Sift", uses: "Compression Files HTTP JSON Sensors Text"),
        library("XAPI", "Backends/XAPI", uses: "Compression Files HTTP JSON Terminal Text"),

        // Formats and rules of media. No I/O.
        library("Ads", "Media/Ads", uses: "HTTP JSON Manifests Text XML"),
        library("CMCD", "Media/CMCD", uses: "Text"),
        library("Manifests", "Media/Manifests", uses: "HTTP JSON Text XML"),
        library("PictureChecks", "Media/PictureChecks"),
        library("Rules", "Media/Rules", uses: "Ads HTTP Manifests Text XML"),

        // The monitor: its configuration (the only target that links Yams), the monitor as a value, checks, and the
        // monitor at work, with its server. No product.
        library(
            "Watch",
            "Monitor/Configuration",
            uses: "BackendKinds Files HTTP Rules Text",
            and: [yams, "InstrumentCommandLineTrait"]
        ),
        library("Monitor", "Monitor/Model", uses: "HTTP JSON Quality Terminal Text Watch"),
        library("Check", "Monitor/Check", uses: "HTTP Manifests PictureChecks Probe Rules Text"),
        library(
            "MonitorRuntime",
            "Monitor/Runtime",
            uses: "Check Chrome Files HTTP JSON Manifests Monitor PageDesign Probe Quality Rules Sockets TLS Terminal"
                + " Text Transport Watch",
            and: [nioCore, nioHTTP1, nioPosix, "InstrumentOriginTrait"],
            embedding: ["Page/dashboard.css", "Page/dashboard.html", "Page/month.css"]
                + "actions dom overview page panel places requests rows store timeline units".split(separator: " ")
                .map { "Page/\($0).js" }
        ),

        // What command lines are made of. The commands of `player-monitor` are a product, for tools with backends of
        // their own.
        library(
            "CommandLine",
            "Tools/CommandLine",
            uses: "BackendKinds Files Terminal Text",
            and: ["CAllocatorShim", argumentParser, "InstrumentCommandLineTrait"]
        ),
        library(
            "Commands",
            "Tools/Commands",
            uses:
                """
                Ads BackendKinds Backends Beacons CMCD CMCDBackend Check Chrome Clickstream CommandLine \
                Compression DurableQueue Files Graphite HTTP Influx JSON Kafka MPV Manifests Monitor MonitorRuntime \
                NATS NewRelic OTLP Probe Quality Replay Report Rules Seer Sensors \
                Sift TLS Terminal Text Trackers Transport Watch XAPI
                """,
            and: [argumentParser]
        ),
        library("Replay", "Tools/Replay", uses: "Backends DurableQueue Files"),
        library(
            "Report",
            "Tools/Report",
            uses: "Ads JSON PageDesign Quality Terminal Text",
            embedding: ["Page/report.css", "Page/report.js"]
        ),

        // For tests, ours and those of others.
        library("TestKit", "Testing/TestKit", uses: "Trackers"),
        library(
            "Origin",
            "Testing/Origin",
            uses: "Ads Files FrameCode HTTP JSON Text",
            and: [nioCore, nioPosix, "InstrumentOriginTrait"]
        ),
        // The number of each frame in the picture of test media, and the eye that reads it back.
        library("FrameCode", "Testing/FrameCode", uses: "Compression"),

        // What several rooms share. Knows nothing of trackers and backends.
        library("Text", "Support/Text"),
        library("PageDesign", "Support/PageDesign", uses: "Terminal Text", embedding: ["document.css", "tokens.css"]),
        library("Files", "Support/Files", uses: "Text"),
        library("Sockets", "Support/Sockets", uses: "Text"),
        library("TLS", "Support/TLS", uses: "Sockets", and: ["COpenSSL"]),
        library("JSON", "Support/JSON", uses: "Text"),
        library("XML", "Support/XML"),
        library("HTTP", "Support/HTTP", uses: "JSON Text"),
        library(
            "Transport",
            "Support/Transport",
            uses: "Compression Files HTTP Text",
            and: [onLinux("CCurl"), onLinux("CTransportShim")]
        ),
        library("Compression", "Support/Compression", uses: "HTTP", and: ["CZlib"]),
        // Text that is safe to write to a terminal. Needs no vocabulary.
        .target(name: "InstrumentTerminal", dependencies: ["CSignalShim"], path: "Sources/Support/Terminal"),

        // The system: libraries, and C code that Swift cannot express.
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        system("CFFmpeg", pkgConfig: "libavformat libavcodec libavutil", apt: "libavformat-dev", brew: "ffmpeg"),
        system("CGStreamer", pkgConfig: "gstreamer-1.0 gstreamer-base-1.0", apt: "libgstreamer1.0-dev"),
        system("CKafka", pkgConfig: "rdkafka", apt: "librdkafka-dev", brew: "librdkafka"),
        system("CMPV", pkgConfig: "mpv", apt: "libmpv-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
        system("CVLC", pkgConfig: "libvlc", apt: "libvlc-dev"),
        system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        shim("CAllocatorShim"),
        shim("CDurableShim"),
        shim("CGStreamerShim", uses: [onLinux("CGStreamer")]),
        shim("CProbeShim", uses: ["CFFmpeg"]),
        shim("CSignalShim"),
        shim("CTransportShim", uses: [onLinux("CCurl")]),
        shim("CVLCShim", uses: [onLinux("CVLC")]),

        // The command lines. No library depends on them.
        .executableTarget(
            name: "PlayerMonitor",
            dependencies: libraries("Commands"),
            path: "Examples/PlayerMonitor"
        ),
        .executableTarget(
            name: "TestOrigin",
            dependencies: [argumentParser] + libraries("CommandLine Files Origin Terminal"),
            path: "Examples/TestOrigin"
        ),

        // Tests, in the tree of the sources, with what they share and the processes that they start.
        tests("Instrument", "Instrument"),
        tests("Hubs", "Hubs"),
        tests("Quality", "Metricalcs/Quality", uses: "Backends HTTP Quality Sampling"),
        tests(
            "DurableQueue",
            "Queue/Durable",
            uses: "Backends Compression DurableQueue Transport",
            and: ["PoolChild", "QueueChild", "QueueChildPlan", "QueueTorture", grdb],
            excluding: ["FaultShim"]
        ),
        tests("Observability", "Queue/Observability", uses: "Observability", and: [metricsTestKit]),
        tests("Trackers", "Trackers/Lifecycle", uses: "Backends Trackers", and: ["LifecycleChild"]),
        tests(
            "Sensors",
            "Trackers/Sensors",
            uses: "Compression JSON Sensors Sift Text Trackers Transport",
            and: ["SensorsChild"]
        ),
        tests("MPV", "Trackers/MPV", uses: "JSON MPV Sockets Text Trackers", and: ["MPVChild"]),
        tests("Chrome", "Trackers/Chrome", uses: "Chrome JSON Origin"),
        tests("VLC", "Trackers/VLC", uses: "FrameCode Origin VLC", and: [onLinux("CVLC"), "TruthStage", "VLCStage"]),
        tests("LibMPV", "Trackers/LibMPV", uses: "JSON LibMPV MPV Origin", and: [onLinux("CMPV")]),
        tests(
            "GStreamer",
            "Trackers/GStreamer",
            uses: "FrameCode GStreamer Origin",
            and: ["GStreamerStage", "TruthStage"]
        ),
        tests("AVPlayer", "Trackers/AVPlayer", uses: "AVPlayer"),
        tests("IMA", "Trackers/IMA", uses: "IMA"),
        tests(
            "Probe",
            "Trackers/Probe",
            uses: "Ads CMCD HTTP Manifests Origin Probe Transport",
            and: ["CFFmpeg", nioCore]
        ),
        tests(
            "AdPlayback",
            "Trackers/AdPlayback",
            uses: "Ads Beacons HTTP JSON Origin Probe Transport",
            and: ["PlayerMonitor"]
        ),
        tests("Backends", "Backends/Local", uses: "Backends Compression JSON"),
        tests("Clickstream", "Backends/Clickstream", uses: "Clickstream DurableQueue JSON Text Transport"),
        tests(
            "Kafka",
            "Backends/Kafka",
            uses: "Backends DurableQueue JSON Kafka Quality",
            and: ["CKafka", "KafkaClusterChild", "QueueChild", "QueueTorture"]
        ),
        tests(
            "NATS",
            "Backends/NATS",
            uses: "Backends DurableQueue HTTP JSON NATS Sockets Text",
            and: ["QueueChild", "QueueTorture"]
        ),
        tests(
            "OpenBackend",
            "Backends/Open",
            uses: "CMCD CMCDBackend Compression DurableQueue Graphite HTTP Influx JSON NewRelic OTLP Transport",
            and: ["QueueChild", "QueueTorture"],
            excluding: ["OTLP/decode.py"]
        ),
        tests("Seer", "Backends/Seer", uses: "DurableQueue JSON Seer Transport XAPI"),
        tests(
            "ServiceFault",
            "Backends/ServiceFaults",
            uses:
                "CMCD CMCDBackend Clickstream Compression DurableQueue HTTP Influx JSON NewRelic OTLP Seer Sift Transport XAPI"
        ),
        tests(
            "Sift",
            "Backends/Sift",
            uses: "Compression DurableQueue JSON Sensors Sift Transport",
            excluding: ["Golden"]
        ),
        tests("XAPI", "Backends/XAPI", uses: "Backends JSON Text Transport XAPI", excluding: ["LRS/serve.py"]),
        tests("Ads", "Media/Ads", uses: "Ads Beacons HTTP JSON Manifests Text Transport", excluding: ["Oracle"]),
        tests("Manifests", "Media/Manifests", uses: "HTTP Manifests"),
        tests("PictureChecks", "Media/PictureChecks", uses: "PictureChecks Probe"),
        tests("Rules", "Media/Rules", uses: "Check HTTP Manifests Origin Rules", and: [nioCore]),
        tests("Watch", "Monitor/Configuration", uses: "BackendKinds HTTP Text Watch"),
        tests(
            "Monitor",
            "Monitor/Runtime",
            uses:
                "BackendKinds Backends Check HTTP JSON Monitor MonitorRuntime Origin Terminal Text Transport Watch",
            and: ["PlayerMonitor"]
        ),
        tests("CommandLine", "Tools/CommandLine", uses: "BackendKinds CommandLine Terminal"),
        tests(
            "PlayerMonitor",
            "Tools/PlayerMonitor",
            uses:
                "BackendKinds Backends CommandLine Commands Compression JSON Monitor Origin Probe Sensors Transport Watch",
            and: ["PlayerMonitor", argumentParser],
            excluding: ["Golden"]
        ),
        tests("Replay", "Tools/Replay", uses: "Ads Backends Compression DurableQueue JSON Quality Replay"),
        tests("Report", "Tools/Report", uses: "JSON Quality Report Terminal"),
        tests("Origin", "Testing/Origin", uses: "Ads HTTP Manifests Origin Text", and: ["TestOrigin", nioCore]),
        tests("FrameCode", "Testing/FrameCode", uses: "FrameCode Origin"),
        tests("TestKit", "Testing/TestKit", uses: "Trackers"),
        tests("Files", "Support/Files", uses: "Files"),
        tests("JSON", "Support/JSON", uses: "JSON"),
        tests("Terminal", "Support/Terminal", uses: "Terminal"),
        tests("Text", "Support/Text", uses: "Text"),
        tests(
            "Transport",
            "Support/Transport",
            uses: "Compression Files HTTP Transport",
            and: ["CCurl", "CTestResolver", "CTransportShim"]
        ),
        shared("LoopbackServers"),
        shared("TestTraits", and: ["LoopbackServers"]),
        shared("TruthStage", uses: "FrameCode Origin"),
        shared("VLCStage", uses: "FrameCode VLC", and: ["TruthStage", onLinux("CVLC")]),
        shared("GStreamerStage", uses: "FrameCode GStreamer", and: ["TruthStage", onLinux("CGStreamer")]),
        shared("LibMPVStage", uses: "FrameCode LibMPV MPV", and: ["TruthStage", onLinux("CMPV")]),
        shared("QueueTorture", uses: "TestKit", and: ["LoopbackServers", "QueueChildPlan"]),
        .target(name: "CostMeasurement", path: "Tests/Shared/CostMeasurement"),
        .target(name: "CTestResolver", path: "Tests/Shared/CTestResolver"),
        .target(name: "QueueChildPlan", path: "Tests/Shared/QueueChildPlan"),
        process("GStreamerTruth", and: ["GStreamerStage", "TruthStage"]),
        process("KafkaClusterChild", and: ["CKafka"]),
        process("LibMPVTruth", and: ["LibMPVStage", "TruthStage"]),
        process("LifecycleChild", uses: "Backends DurableQueue Sensors Trackers"),
        process("MPVChild", uses: "MPV"),
        process("PoolChild", uses: "DurableQueue Transport", and: ["LoopbackServers"]),
        process(
            "QueueChild",
            uses: "Ads Backends Beacons DurableQueue Influx Kafka NATS TestKit Transport",
            and: ["CDurableShim", "LoopbackServers", "QueueChildPlan"]
        ),
        process("SensorsChild", uses: "Sensors"),
        process("ChromeTruth", uses: "Chrome FrameCode Origin", and: ["LoopbackServers"]),
        process("VLCTruth", and: ["TruthStage", "VLCStage"]),
    ],
    swiftLanguageModes: [.v6]
)

// A target that needs a trait depends on a target that fails without the trait, with one message: the files that import
// the trait's libraries are not compiled then.
for trait in ["CommandLine", "DurableQueue", "Observability", "Origin"] {
    package.targets.append(.target(name: "Instrument\(trait)Trait", path: "Sources/Support/Traits/\(trait)"))
}

// One loop gives every Swift target the same settings.
for target in package.targets where target.type != .system && !target.name.hasPrefix("C") {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
