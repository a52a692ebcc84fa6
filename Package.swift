// swift-tools-version: 6.1
import PackageDescription

/// The folders of `Sources` that belong to other targets than `Instrument`, which is made of three folders.
let roomsOfOtherTargets = [
    "AVPlayer", "Ads", "Backends", "CAllocatorShim", "CCurl", "CDurableShim", "CFFmpeg", "CKafka", "CMCD",
    "COpenSSL", "CProbeShim", "CSignalShim", "CTransportShim", "CZlib", "Check", "CommandLine", "Compression",
    "DurableQueue", "Files", "HTTP", "IMA", "JSON", "MPV", "Manifests", "Monitor", "MonitorRuntime",
    "MonitorServer", "Observability", "Origin", "PictureChecks", "Probe", "Quality", "Replay", "Report", "Rules",
    "Sampling", "Sensors", "ServiceLifecycle", "Sockets", "SwiftUIAnalytics", "Terminal", "TestKit", "Text",
    "Trackers", "Traits", "Transport", "Watch", "XML",
]

/// A library of another package, which is resolved, fetched and built only while a trait of this package is enabled.
func library(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let argumentParser = library("ArgumentParser", of: "swift-argument-parser", trait: "CommandLine")
let grdb = library("GRDB", of: "GRDB.swift", trait: "DurableQueue")
let nioCore = library("NIOCore", of: "swift-nio", trait: "Origin")
let nioHTTP1 = library("NIOHTTP1", of: "swift-nio", trait: "Origin")
let nioPosix = library("NIOPosix", of: "swift-nio", trait: "Origin")

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
        .executable(name: "player-monitor", targets: ["PlayerMonitor"]),
        .executable(name: "test-origin", targets: ["TestOrigin"]),
    ],
    // An app resolves the packages of the traits that it enables, and no others: `traits: []` in its dependency on this
    // package needs none of the packages below; `traits: ["DurableQueue"]` needs GRDB. The default enables all that
    // this package itself builds and tests, so that a plain `swift build` works in a checkout, and an app that knows
    // nothing of traits gets everything. Xcode builds a package that is opened by itself with the default.
    traits: [
        .default(enabledTraits: ["CommandLine", "DurableQueue", "Observability", "Origin"]),
        .trait(
            name: "CommandLine",
            description: "The command lines: swift-argument-parser, Yams, and what DurableQueue and Origin need.",
            enabledTraits: ["DurableQueue", "Origin"]
        ),
        .trait(name: "DurableQueue", description: "The queue on disk: GRDB."),
        .trait(name: "Observability", description: "Diagnostics for swift-log and swift-metrics."),
        .trait(name: "Origin", description: "The test origin: SwiftNIO."),
        .trait(name: "ServiceLifecycle", description: "An instrument as a service of swift-service-lifecycle."),
    ],
    // Each is used behind a trait; scripts/check-embedding.sh fails where one is not.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // The vocabulary, the chain with its hubs and metricalcs, the typed app events and the shared queue. Imports no
        // other target.
        .target(
            name: "Instrument",
            path: "Sources",
            exclude: roomsOfOtherTargets + ["Instrument/Instrument.docc"],
            sources: ["Instrument", "Hubs", "Metricalcs"]
        ),
        .target(name: "CSignalShim"),
        .target(
            name: "InstrumentTrackers",
            dependencies: [
                "Instrument", .target(name: "InstrumentFiles", condition: .when(platforms: [.linux])),
                .target(name: "CSignalShim", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Trackers"
        ),
        // The app's life under swift-service-lifecycle. Empty while the trait is off.
        .target(
            name: "InstrumentServiceLifecycle",
            dependencies: [
                "Instrument", "InstrumentTrackers",
                library("ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
            ],
            path: "Sources/ServiceLifecycle"
        ),
        // A real player, watched from outside.
        .target(
            name: "InstrumentMPV",
            dependencies: ["Instrument", "InstrumentJSON", "InstrumentText", "InstrumentTrackers"],
            path: "Sources/MPV"
        ),
        // Players and ads of Apple platforms, and app events of SwiftUI. Elsewhere these targets have their pure models
        // alone.
        .target(name: "InstrumentAVPlayer", dependencies: ["Instrument"], path: "Sources/AVPlayer"),
        .target(name: "InstrumentIMA", dependencies: ["Instrument"], path: "Sources/IMA"),
        .target(name: "InstrumentSwiftUI", dependencies: ["Instrument"], path: "Sources/SwiftUIAnalytics"),
        // Sensors, the device, and what collects them for the chain.
        .target(
            name: "InstrumentSensors",
            dependencies: ["Instrument", "InstrumentFiles", "InstrumentJSON", "InstrumentText"],
            path: "Sources/Sensors"
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // One gzip for the backends and the transport.
        .target(name: "InstrumentCompression", dependencies: ["CZlib", "InstrumentHTTP"], path: "Sources/Compression"),
        // Text that several rooms read and write: calendar, digits, lines, padding. No product, no Foundation.
        .target(name: "InstrumentText", dependencies: ["Instrument"], path: "Sources/Text"),
        // Files that several rooms read and replace, and the limit of open files. No product, no Foundation.
        .target(name: "InstrumentFiles", dependencies: ["Instrument", "InstrumentText"], path: "Sources/Files"),
        // TCP connections of backends that do not talk HTTP. No product, no Foundation.
        .target(name: "InstrumentSockets", dependencies: ["Instrument", "InstrumentText"], path: "Sources/Sockets"),
        // One JSON for the backends.
        .target(name: "InstrumentJSON", dependencies: ["Instrument", "InstrumentText"], path: "Sources/JSON"),
        // Text that is safe to write to a terminal, for the console backend and the command lines. No product.
        .target(name: "InstrumentTerminal", dependencies: ["CSignalShim"], path: "Sources/Terminal"),
        .target(
            name: "InstrumentBackends",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentFiles", "InstrumentJSON", "InstrumentTerminal",
                "InstrumentText",
            ],
            path: "Sources/Backends",
            exclude: [
                "Beacons", "CMCD", "Clickstream", "Graphite", "Influx", "Kafka", "NATS", "NewRelic", "OTLP", "Seer",
                "Sift",
                "XAPI",
            ]
        ),
        .target(
            name: "InstrumentClickstream",
            dependencies: ["Instrument", "InstrumentHTTP", "InstrumentJSON", "InstrumentText"],
            path: "Sources/Backends/Clickstream"
        ),
        .target(
            name: "InstrumentSift",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentFiles", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentSensors", "InstrumentText",
            ],
            path: "Sources/Backends/Sift"
        ),
        // Common Media Client Data: reports, their text, and its validation. No I/O.
        .target(name: "InstrumentCMCD", dependencies: ["Instrument", "InstrumentText"], path: "Sources/CMCD"),
        .target(
            name: "InstrumentCMCDBackend",
            dependencies: ["Instrument", "InstrumentCMCD", "InstrumentHTTP"],
            path: "Sources/Backends/CMCD"
        ),
        .target(
            name: "InstrumentOTLP",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentHTTP", "InstrumentJSON", "InstrumentText",
            ],
            path: "Sources/Backends/OTLP"
        ),
        // The backends of systems that operators run already. No library beside zlib.
        .target(
            name: "InstrumentInflux",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentHTTP", "InstrumentJSON", "InstrumentText",
            ],
            path: "Sources/Backends/Influx"
        ),
        .target(
            name: "InstrumentGraphite",
            dependencies: ["Instrument", "InstrumentSockets", "InstrumentText"],
            path: "Sources/Backends/Graphite"
        ),
        .target(
            name: "InstrumentNewRelic",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentHTTP", "InstrumentJSON", "InstrumentText",
            ],
            path: "Sources/Backends/NewRelic"
        ),
        // Samples in a topic of Kafka. Only this product links librdkafka.
        .systemLibrary(
            name: "CKafka",
            pkgConfig: "rdkafka",
            providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]
        ),
        .target(
            name: "InstrumentKafka",
            dependencies: ["Instrument", "InstrumentBackends", "InstrumentHTTP", "InstrumentText", "CKafka"],
            path: "Sources/Backends/Kafka"
        ),
        // Samples in a stream of NATS JetStream. Only this product links OpenSSL.
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(
            name: "InstrumentNATS",
            dependencies: [
                "Instrument", "InstrumentBackends", "InstrumentHTTP", "InstrumentJSON", "InstrumentSockets",
                "InstrumentText", "COpenSSL",
            ],
            path: "Sources/Backends/NATS"
        ),

        // Messages and addresses of HTTP, what a response means for a batch, and the protocol of a transport. No I/O.
        .target(
            name: "InstrumentHTTP",
            dependencies: ["Instrument", "InstrumentJSON", "InstrumentText"],
            path: "Sources/HTTP"
        ),
        // The one room that talks HTTP: libcurl on Linux, URLSession on Apple platforms, which link no libcurl.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CTransportShim", dependencies: [.target(name: "CCurl", condition: .when(platforms: [.linux]))]),
        .target(
            name: "InstrumentTransport",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentHTTP", "InstrumentText",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
                .target(name: "CTransportShim", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Transport"
        ),

        // HLS and DASH manifests, and the timeline that a player plays from. No I/O.
        .target(
            name: "InstrumentManifests",
            dependencies: ["Instrument", "InstrumentHTTP", "InstrumentJSON", "InstrumentText", "InstrumentXML"],
            path: "Sources/Manifests"
        ),
        // A reader of XML from untrusted sources, for manifests and ad responses. No product, no Foundation, no I/O.
        .target(name: "InstrumentXML", dependencies: ["Instrument"], path: "Sources/XML"),

        // Ads: SCTE-35, VAST, VMAP, signals of manifests, schedules of interstitials, tracking, metrics. No I/O.
        .target(
            name: "InstrumentAds",
            dependencies: [
                "Instrument", "InstrumentHTTP", "InstrumentJSON", "InstrumentManifests", "InstrumentText",
                "InstrumentXML",
            ],
            path: "Sources/Ads"
        ),
        // Beacons of ads as samples of the queue, and the backend that sends them.
        .target(
            name: "InstrumentBeacons",
            dependencies: ["Instrument", "InstrumentAds", "InstrumentHTTP"],
            path: "Sources/Backends/Beacons"
        ),

        // Rules that playlists, manifests and segments must keep. No I/O.
        .target(
            name: "InstrumentRules",
            dependencies: ["Instrument", "InstrumentHTTP", "InstrumentManifests", "InstrumentText", "InstrumentXML"],
            path: "Sources/Rules"
        ),
        // Black, frozen and silent intervals, and loudness, from decoded frames. No I/O.
        .target(name: "InstrumentPictureChecks", dependencies: ["Instrument"], path: "Sources/PictureChecks"),
        // Fetches a stream and applies the rules and the picture checks.
        .target(
            name: "InstrumentCheck",
            dependencies: [
                "Instrument", "InstrumentHTTP", "InstrumentManifests", "InstrumentPictureChecks", "InstrumentProbe",
                "InstrumentRules",
            ],
            path: "Sources/Check"
        ),
        // The configuration of `watch`. Only this target links Yams.
        .target(
            name: "InstrumentWatch",
            dependencies: [
                "Instrument", "InstrumentCommandLineTrait", "InstrumentFiles", "InstrumentHTTP", "InstrumentRules",
                "InstrumentText",
                library("Yams", of: "Yams", trait: "CommandLine"),
            ],
            path: "Sources/Watch"
        ),

        // The monitor as a value: schedules, sums, alerts, the pages of metrics and of the dashboard's data. No I/O, no
        // product.
        .target(
            name: "InstrumentMonitor",
            dependencies: [
                "Instrument", "InstrumentHTTP", "InstrumentJSON", "InstrumentQuality", "InstrumentTerminal",
                "InstrumentText", "InstrumentWatch",
            ],
            path: "Sources/Monitor"
        ),
        // The HTTP server of the monitor. No product.
        .target(
            name: "InstrumentMonitorServer",
            dependencies: [
                "Instrument", "InstrumentOriginTrait", nioCore, nioHTTP1, nioPosix,
            ],
            path: "Sources/MonitorServer"
        ),
        // The monitor at work: probes and checks, backends, webhooks, the pages, the service manager. No product.
        .target(
            name: "InstrumentMonitorRuntime",
            dependencies: [
                "Instrument", "InstrumentCheck", "InstrumentFiles", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentManifests", "InstrumentMonitor", "InstrumentMonitorServer", "InstrumentProbe",
                "InstrumentQuality", "InstrumentRules", "InstrumentText", "InstrumentTransport", "InstrumentWatch",
            ],
            path: "Sources/MonitorRuntime"
        ),

        // Learning records: xAPI statements, their validation, and the client and backend of an LRS.
        .target(
            name: "InstrumentXAPI",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentFiles", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentTerminal", "InstrumentText",
            ],
            path: "Sources/Backends/XAPI"
        ),
        // The Seer service: its payloads with their validation, its client and queue, and the backend.
        .target(
            name: "InstrumentSeer",
            dependencies: ["Instrument", "InstrumentJSON", "InstrumentHTTP", "InstrumentText", "InstrumentXAPI"],
            path: "Sources/Backends/Seer"
        ),

        // The headless player. Only this product links FFmpeg.
        .systemLibrary(
            name: "CFFmpeg",
            pkgConfig: "libavformat libavcodec libavutil",
            providers: [.apt(["libavformat-dev"]), .brew(["ffmpeg"])]
        ),
        .target(name: "CProbeShim", dependencies: ["CFFmpeg"]),
        .target(
            name: "InstrumentProbe",
            dependencies: [
                "Instrument", "InstrumentAds", "InstrumentCMCD", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentManifests", "InstrumentPictureChecks", "InstrumentTransport", "InstrumentXML",
                "CFFmpeg", "CProbeShim",
            ],
            path: "Sources/Probe"
        ),

        // The store that survives: segments on disk, and their bookkeeping in SQLite.
        .target(name: "CDurableShim"),
        .target(
            name: "InstrumentDurableQueue",
            dependencies: [
                "Instrument", "InstrumentDurableQueueTrait", "InstrumentFiles", "InstrumentText", "CDurableShim",
                grdb,
            ],
            path: "Sources/DurableQueue"
        ),

        // Recorded samples: read again, merged, delivered to backends under their identifiers. No product.
        .target(
            name: "InstrumentReplay",
            dependencies: [
                "Instrument", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentFiles",
            ],
            path: "Sources/Replay"
        ),

        // Recorded sessions as an HTML page, as text and as a table. No I/O, no product.
        .target(
            name: "InstrumentReport",
            dependencies: [
                "Instrument", "InstrumentAds", "InstrumentJSON", "InstrumentQuality", "InstrumentTerminal",
                "InstrumentText",
            ],
            path: "Sources/Report"
        ),

        // Diagnostics and ledgers of the queue, through swift-log and swift-metrics. Only this product links them.
        .target(
            name: "InstrumentObservability",
            dependencies: [
                "Instrument", "InstrumentObservabilityTrait",
                library("Logging", of: "swift-log", trait: "Observability"),
                library("CoreMetrics", of: "swift-metrics", trait: "Observability"),
            ],
            path: "Sources/Observability"
        ),

        // Sessions, quality metrics in several dialects, and their aggregation. No I/O, no clock, no Foundation.
        .target(name: "InstrumentQuality", dependencies: ["Instrument"], path: "Sources/Quality"),
        // The sampling of sessions that an app reads from a file or an address.
        .target(
            name: "InstrumentSampling",
            dependencies: [
                "Instrument", "InstrumentFiles", "InstrumentHTTP", "InstrumentJSON", "InstrumentQuality",
            ],
            path: "Sources/Sampling"
        ),

        // For tests of components, yours and ours.
        .target(
            name: "InstrumentTestKit",
            dependencies: ["Instrument", "InstrumentTrackers"],
            path: "Sources/TestKit"
        ),

        // Limits the heaps of the GNU C Library, for a monitor that runs for months.
        .target(name: "CAllocatorShim"),
        // The scaffolding of the command lines: terminal, tables, summaries, files of lines, exit codes. No product.
        .target(
            name: "InstrumentCommandLine",
            dependencies: [
                "CAllocatorShim", "Instrument", "InstrumentCommandLineTrait", "InstrumentFiles", "InstrumentTerminal",
                "InstrumentText",
                argumentParser,
            ],
            path: "Sources/CommandLine"
        ),

        // The command line. The libraries do not depend on what it depends on.
        .executableTarget(
            name: "PlayerMonitor",
            dependencies: [
                "Instrument", "InstrumentAds", "InstrumentBackends", "InstrumentBeacons", "InstrumentCMCD",
                "InstrumentCMCDBackend", "InstrumentCheck", "InstrumentClickstream", "InstrumentCommandLine",
                "InstrumentDurableQueue", "InstrumentFiles", "InstrumentGraphite", "InstrumentHTTP", "InstrumentInflux",
                "InstrumentJSON", "InstrumentKafka", "InstrumentMPV", "InstrumentManifests", "InstrumentMonitor",
                "InstrumentMonitorRuntime", "InstrumentMonitorServer", "InstrumentNATS", "InstrumentNewRelic",
                "InstrumentOTLP", "InstrumentProbe", "InstrumentQuality",
                "InstrumentReplay", "InstrumentReport", "InstrumentRules", "InstrumentSeer", "InstrumentSensors",
                "InstrumentSift", "InstrumentTerminal", "InstrumentText", "InstrumentTrackers", "InstrumentTransport",
                "InstrumentWatch", "InstrumentXAPI",
                argumentParser,
            ],
            path: "Examples/PlayerMonitor"
        ),

        // An HTTP server of media that keeps a schedule and fails on command. Only this product links NIO.
        .target(
            name: "InstrumentOrigin",
            dependencies: [
                "Instrument", "InstrumentAds", "InstrumentJSON", "InstrumentOriginTrait", "InstrumentText",
                nioCore,
                nioPosix,
            ],
            path: "Sources/Origin"
        ),
        .executableTarget(
            name: "TestOrigin",
            dependencies: [
                "InstrumentCommandLine", "InstrumentFiles", "InstrumentOrigin", "InstrumentTerminal",
                argumentParser,
            ],
            path: "Examples/TestOrigin"
        ),

        // How the cost of work grows with its input, for the tests of readers of foreign input.
        .target(name: "CostMeasurement", path: "Tests/CostMeasurement"),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "Instrument", "InstrumentCommandLine", "InstrumentTerminal",
            ]
        ),
        .testTarget(name: "TerminalTests", dependencies: ["CostMeasurement", "InstrumentTerminal"]),

        // Servers that misbehave on command, and helpers of tests: scratch directories, blocking process Swift's pool,
        // load.
        .target(name: "LoopbackServers", dependencies: ["Instrument"], path: "Tests/LoopbackServers"),

        // The names of the tests, which no resolver of the machine decides about.
        .target(name: "CTestResolver", path: "Tests/CTestResolver"),

        // Traits of tests: on a separate thread, alone.
        .target(name: "TestTraits", dependencies: ["Instrument", "LoopbackServers"], path: "Tests/TestTraits"),

        .testTarget(
            name: "InstrumentTests",
            dependencies: [
                "Instrument", "InstrumentTestKit",
            ]
        ),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "InstrumentObservability", "InstrumentTestKit",
                library("MetricsTestKit", of: "swift-metrics", trait: "Observability"),
            ]
        ),
        .testTarget(
            name: "TextTests",
            dependencies: ["CostMeasurement", "Instrument", "InstrumentTestKit", "InstrumentText"]
        ),
        .testTarget(
            name: "FilesTests",
            dependencies: ["Instrument", "InstrumentFiles", "InstrumentTestKit", "LoopbackServers"]
        ),
        .testTarget(name: "JSONTests", dependencies: ["CostMeasurement", "InstrumentJSON", "InstrumentTestKit"]),
        .testTarget(
            name: "BackendsTests",
            dependencies: [
                "CostMeasurement", "InstrumentBackends", "InstrumentJSON", "InstrumentCompression", "InstrumentTestKit",
                "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "ReplayTests",
            dependencies: [
                "InstrumentAds", "InstrumentReplay", "InstrumentBackends", "InstrumentCompression",
                "InstrumentDurableQueue",
                "InstrumentJSON", "InstrumentQuality", "InstrumentTestKit", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "ReportTests",
            dependencies: [
                "InstrumentReport", "InstrumentJSON", "InstrumentQuality", "InstrumentTerminal",
            ]
        ),
        .testTarget(
            name: "ClickstreamTests",
            dependencies: [
                "InstrumentClickstream", "InstrumentDurableQueue", "InstrumentTestKit", "InstrumentText",
                "InstrumentTransport", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "SiftTests",
            dependencies: [
                "InstrumentSift", "InstrumentCompression", "InstrumentDurableQueue", "InstrumentSensors",
                "InstrumentTestKit", "InstrumentTransport", "LoopbackServers", "TestTraits",
            ],
            exclude: ["Golden"]
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "CTestResolver", "CTransportShim", "CostMeasurement", "InstrumentCompression", "InstrumentHTTP",
                "InstrumentTestKit", "InstrumentTransport", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "ManifestsTests",
            dependencies: [
                "CostMeasurement", "InstrumentHTTP", "InstrumentManifests", "InstrumentTestKit", "LoopbackServers",
                "TestTraits",
            ]
        ),
        .testTarget(
            name: "RulesTests",
            dependencies: [
                "CostMeasurement", "InstrumentCheck", "InstrumentHTTP", "InstrumentManifests", "InstrumentOrigin",
                "InstrumentRules", "LoopbackServers", "TestTraits",
                nioCore,
            ]
        ),
        .testTarget(
            name: "PictureChecksTests",
            dependencies: ["InstrumentPictureChecks", "InstrumentProbe", "LoopbackServers", "TestTraits"]
        ),
        .testTarget(
            name: "WatchTests",
            dependencies: ["CostMeasurement", "InstrumentWatch", "LoopbackServers"]
        ),
        .testTarget(
            name: "MonitorTests",
            dependencies: [
                "Instrument", "InstrumentCheck", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentMonitor", "InstrumentMonitorRuntime", "InstrumentMonitorServer", "InstrumentOrigin",
                "InstrumentTerminal", "InstrumentTestKit", "InstrumentTransport", "InstrumentWatch", "LoopbackServers",
                "PlayerMonitor", "TestTraits",
            ]
        ),
        .testTarget(
            name: "AdsTests",
            dependencies: [
                "CostMeasurement", "InstrumentAds", "InstrumentBeacons", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentManifests", "InstrumentTestKit", "InstrumentText", "InstrumentTransport", "LoopbackServers",
                "TestTraits",
            ],
            exclude: ["Oracle"]
        ),
        .testTarget(
            name: "XAPITests",
            dependencies: [
                "CostMeasurement", "Instrument", "InstrumentXAPI", "InstrumentBackends", "InstrumentJSON",
                "InstrumentTestKit", "InstrumentText", "InstrumentTransport", "LoopbackServers", "TestTraits",
            ],
            exclude: ["LRS/serve.py"]
        ),
        .testTarget(
            name: "SeerTests",
            dependencies: [
                "InstrumentSeer", "InstrumentDurableQueue", "InstrumentJSON", "InstrumentTransport",
                "InstrumentTestKit",
                "InstrumentXAPI", "LoopbackServers", "TestTraits",
            ]
        ),
        // Backends of systems that operators run already, also against the real servers.
        .testTarget(
            name: "OpenBackendTests",
            dependencies: [
                "Instrument", "InstrumentCMCD", "InstrumentCMCDBackend", "InstrumentDurableQueue", "InstrumentGraphite",
                "InstrumentInflux",
                "InstrumentNewRelic", "InstrumentOTLP", "InstrumentCompression", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentTestKit", "InstrumentTransport", "LoopbackServers", "QueueChild",
                "QueueChildPlan", "QueueTorture", "TestTraits",
            ],
            exclude: ["OTLP/decode.py"]
        ),
        // The process of the Kafka tests' brokers.
        .executableTarget(name: "KafkaClusterChild", dependencies: ["CKafka"], path: "Tests/KafkaClusterChild"),
        .testTarget(
            name: "KafkaTests",
            dependencies: [
                "CKafka", "Instrument", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentJSON",
                "InstrumentKafka", "InstrumentQuality",
                "InstrumentTestKit", "KafkaClusterChild", "LoopbackServers", "QueueChild", "QueueChildPlan",
                "QueueTorture", "TestTraits",
            ]
        ),
        .testTarget(
            name: "NATSTests",
            dependencies: [
                "Instrument", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentJSON", "InstrumentNATS",
                "InstrumentSockets", "InstrumentTestKit", "InstrumentText", "LoopbackServers", "QueueChild",
                "QueueChildPlan", "QueueTorture", "TestTraits",
            ]
        ),
        .testTarget(
            name: "QualityTests",
            dependencies: [
                "CostMeasurement", "Instrument", "InstrumentBackends", "InstrumentHTTP", "InstrumentQuality",
                "InstrumentSampling", "InstrumentTestKit", "LoopbackServers",
            ]
        ),
        .testTarget(
            name: "HubsTests",
            dependencies: ["InstrumentTestKit"]
        ),
        // The process that the durable queue's tests kill, and the plan that the tests pass to it.
        .target(name: "QueueChildPlan", path: "Tests/QueueChildPlan"),
        // Kills that process, and compares what arrived with what the queue promised.
        .target(
            name: "QueueTorture",
            dependencies: ["Instrument", "InstrumentTestKit", "LoopbackServers", "QueueChildPlan"],
            path: "Tests/QueueTorture"
        ),
        .executableTarget(
            name: "QueueChild",
            dependencies: [
                "CDurableShim", "Instrument",
                "InstrumentAds", "InstrumentBeacons", "InstrumentDurableQueue", "InstrumentBackends",
                "InstrumentInflux", "InstrumentKafka", "InstrumentNATS", "InstrumentTestKit",
                "InstrumentTransport", "LoopbackServers", "QueueChildPlan",
            ],
            path: "Tests/QueueChild"
        ),
        // The process in which every thread of Swift's pool is busy.
        .executableTarget(
            name: "PoolChild",
            dependencies: ["Instrument", "InstrumentDurableQueue", "InstrumentTransport", "LoopbackServers"],
            path: "Tests/PoolChild"
        ),
        // Each service's backend over the durable queue, against a server that fails in every way.
        .testTarget(
            name: "ServiceFaultTests",
            dependencies: [
                "InstrumentCMCD", "InstrumentCMCDBackend", "InstrumentClickstream", "InstrumentInflux",
                "InstrumentNewRelic", "InstrumentOTLP", "InstrumentSeer", "InstrumentSift", "InstrumentXAPI",
                "InstrumentCompression",
                "InstrumentDurableQueue", "InstrumentJSON", "InstrumentTestKit", "InstrumentTransport",
                "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "DurableQueueTests",
            dependencies: [
                "InstrumentDurableQueue", "InstrumentBackends", "InstrumentCompression", "InstrumentTestKit",
                "InstrumentTransport", "LoopbackServers", "PoolChild", "QueueChild",
                "QueueChildPlan", "QueueTorture",
                "TestTraits",
                grdb,
            ],
            exclude: ["FaultShim"]
        ),
        .testTarget(
            name: "OriginTests",
            dependencies: [
                "CostMeasurement", "Instrument", "InstrumentAds", "InstrumentHTTP", "InstrumentManifests",
                "InstrumentOrigin",
                "InstrumentTestKit", "InstrumentText", "LoopbackServers", "TestOrigin",
                "TestTraits",
                nioCore,
            ]
        ),
        // The process that the lifecycle's tests stop and end.
        .executableTarget(
            name: "LifecycleChild",
            dependencies: [
                "InstrumentTrackers", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentSensors",
            ],
            path: "Tests/LifecycleChild"
        ),
        .testTarget(
            name: "TrackersTests",
            dependencies: [
                "InstrumentTrackers", "InstrumentBackends", "InstrumentTestKit", "LifecycleChild",
                "LoopbackServers", "TestTraits",
            ]
        ),
        // The process that starts an mpv and is killed.
        .executableTarget(
            name: "MPVChild",
            dependencies: ["Instrument", "InstrumentMPV"],
            path: "Tests/MPVChild"
        ),
        .testTarget(
            name: "MPVTests",
            dependencies: [
                "CostMeasurement", "InstrumentMPV", "MPVChild", "InstrumentJSON", "InstrumentTestKit", "InstrumentText",
                "InstrumentTrackers", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "AVPlayerTests",
            dependencies: ["Instrument", "InstrumentAVPlayer", "InstrumentTestKit"]
        ),
        .testTarget(name: "IMATests", dependencies: ["Instrument", "InstrumentIMA", "InstrumentTestKit"]),
        // The program that sees mocked devices and a separate network.
        .executableTarget(
            name: "SensorsChild",
            dependencies: ["Instrument", "InstrumentSensors"],
            path: "Tests/SensorsChild"
        ),
        .testTarget(
            name: "SensorsTests",
            dependencies: [
                "CostMeasurement", "Instrument", "InstrumentCompression", "InstrumentJSON", "InstrumentSensors",
                "InstrumentSift", "InstrumentTestKit", "InstrumentText", "InstrumentTrackers", "InstrumentTransport",
                "SensorsChild", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "TestKitTests",
            dependencies: [
                "Instrument", "InstrumentTestKit", "InstrumentTrackers", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "PlayerMonitorTests",
            dependencies: [
                "PlayerMonitor", "InstrumentProbe", "InstrumentBackends", "InstrumentCompression",
                "InstrumentJSON", "InstrumentOrigin", "InstrumentSensors", "InstrumentTestKit", "InstrumentTransport",
                "LoopbackServers", "TestTraits",
                argumentParser,
            ],
            exclude: ["Golden"]
        ),
        .testTarget(
            name: "AdPlaybackTests",
            dependencies: [
                "CostMeasurement", "InstrumentAds", "InstrumentBeacons", "InstrumentHTTP", "InstrumentJSON",
                "InstrumentOrigin", "InstrumentProbe",
                "InstrumentTransport", "LoopbackServers", "PlayerMonitor", "TestTraits",
            ]
        ),
        .testTarget(
            name: "ProbeTests",
            dependencies: [
                "CFFmpeg", "CostMeasurement", "InstrumentAds", "InstrumentCMCD", "InstrumentHTTP", "InstrumentProbe",
                "InstrumentManifests", "InstrumentOrigin", "InstrumentTestKit",
                "InstrumentTransport", "LoopbackServers", "TestTraits",
                nioCore,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// A target that needs a trait depends on a target that fails without the trait, with one message: the files that import
// the trait's libraries are not compiled then.
for trait in ["CommandLine", "DurableQueue", "Observability", "Origin"] {
    package.targets.append(.target(name: "Instrument\(trait)Trait", path: "Sources/Traits/\(trait)"))
}

// One loop gives every Swift target the same settings.
for target in package.targets where target.type != .system && !target.name.hasPrefix("C") {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
