// swift-tools-version: 6.1
import PackageDescription

/// The folders of `Sources` that belong to other targets than `Instrument`, which is made of three folders.
let roomsOfOtherTargets = [
    "Backends", "CCurl", "CDurableShim", "CFFmpeg", "CProbeShim", "CSignalShim", "CTransportShim", "CZlib",
    "CommandLine", "Compression", "DurableQueue", "Files", "HTTP", "JSON", "MPV", "Manifests", "Observability",
    "Origin", "Probe", "Sensors", "ServiceLifecycle", "Terminal", "TestKit", "Text", "Trackers", "Transport",
]

let package = Package(
    name: "instrument",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Instrument", targets: ["Instrument"]),
        .library(name: "InstrumentDurableQueue", targets: ["InstrumentDurableQueue"]),
        .library(name: "InstrumentTrackers", targets: ["InstrumentTrackers", "InstrumentServiceLifecycle"]),
        .library(name: "InstrumentSensors", targets: ["InstrumentSensors"]),
        .library(name: "InstrumentProbe", targets: ["InstrumentProbe", "InstrumentManifests"]),
        .library(name: "InstrumentMPV", targets: ["InstrumentMPV"]),
        .library(name: "InstrumentBackends", targets: ["InstrumentBackends"]),
        .library(name: "InstrumentXAPI", targets: ["InstrumentXAPI", "InstrumentSeer"]),
        .library(name: "InstrumentClickstream", targets: ["InstrumentClickstream"]),
        .library(name: "InstrumentSift", targets: ["InstrumentSift"]),
        .library(name: "InstrumentTransport", targets: ["InstrumentTransport", "InstrumentHTTP", "InstrumentJSON"]),
        .library(name: "InstrumentObservability", targets: ["InstrumentObservability"]),
        .library(name: "InstrumentTestKit", targets: ["InstrumentTestKit"]),
        .library(name: "InstrumentOrigin", targets: ["InstrumentOrigin"]),
        .executable(name: "player-monitor", targets: ["PlayerMonitor"]),
        .executable(name: "test-origin", targets: ["TestOrigin"]),
    ],
    traits: [
        .trait(name: "ServiceLifecycle", description: "An instrument as a service of swift-service-lifecycle.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.8.0"),
        // Neither fetched nor built while the trait is off.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // The vocabulary, the chain with its hubs and metricalcs, the typed app events and the shared queue. Imports nothing of ours.
        .target(
            name: "Instrument",
            path: "Sources",
            exclude: roomsOfOtherTargets + ["Instrument/Instrument.docc"],
            sources: ["Instrument", "Hubs", "Metricalcs"]
        ),
        .target(name: "CSignalShim"),
        .target(
            name: "InstrumentTrackers",
            dependencies: ["Instrument", .target(name: "CSignalShim", condition: .when(platforms: [.linux]))],
            path: "Sources/Trackers"
        ),
        // The app's life under swift-service-lifecycle. Empty while the trait is off.
        .target(
            name: "InstrumentServiceLifecycle",
            dependencies: [
                "Instrument", "InstrumentTrackers",
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
            ],
            path: "Sources/ServiceLifecycle"
        ),
        // A real player, watched from outside.
        .target(
            name: "InstrumentMPV",
            dependencies: ["Instrument", "InstrumentJSON", "InstrumentText", "InstrumentTrackers"],
            path: "Sources/MPV"
        ),
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
            exclude: ["Clickstream", "Seer", "Sift", "XAPI"]
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
                "InstrumentSensors",
            ],
            path: "Sources/Backends/Sift"
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
            dependencies: ["Instrument", "InstrumentHTTP", "InstrumentText"],
            path: "Sources/Manifests"
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
                "Instrument", "InstrumentJSON", "InstrumentManifests", "InstrumentTrackers", "InstrumentTransport",
                "CFFmpeg", "CProbeShim",
            ],
            path: "Sources/Probe"
        ),

        // The store that survives: segments on disk, and their bookkeeping in SQLite.
        .target(name: "CDurableShim"),
        .target(
            name: "InstrumentDurableQueue",
            dependencies: [
                "Instrument", "InstrumentFiles", "InstrumentText", "CDurableShim",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Sources/DurableQueue"
        ),

        // Diagnostics and ledgers of the queue, through swift-log and swift-metrics. Only this product links them.
        .target(
            name: "InstrumentObservability",
            dependencies: [
                "Instrument",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            path: "Sources/Observability"
        ),

        // For tests of components, yours and ours.
        .target(
            name: "InstrumentTestKit",
            dependencies: ["Instrument", "InstrumentTrackers"],
            path: "Sources/TestKit"
        ),

        // The scaffolding of the command lines: terminal, tables, summaries, files of lines, exit codes. No product.
        .target(
            name: "InstrumentCommandLine",
            dependencies: [
                "Instrument", "InstrumentFiles", "InstrumentTerminal", "InstrumentText",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/CommandLine"
        ),

        // The command line. The libraries do not depend on what it depends on.
        .executableTarget(
            name: "PlayerMonitor",
            dependencies: [
                "Instrument", "InstrumentTrackers", "InstrumentProbe", "InstrumentBackends", "InstrumentClickstream",
                "InstrumentCommandLine", "InstrumentDurableQueue", "InstrumentFiles", "InstrumentJSON",
                "InstrumentManifests", "InstrumentMPV", "InstrumentSeer", "InstrumentSensors", "InstrumentSift",
                "InstrumentTerminal", "InstrumentText", "InstrumentTransport", "InstrumentXAPI",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/PlayerMonitor"
        ),

        // An HTTP server of media that keeps a schedule and fails on command. Only this product links NIO.
        .target(
            name: "InstrumentOrigin",
            dependencies: [
                "Instrument", "InstrumentJSON", "InstrumentText",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Origin"
        ),
        .executableTarget(
            name: "TestOrigin",
            dependencies: [
                "InstrumentCommandLine", "InstrumentFiles", "InstrumentOrigin", "InstrumentTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/TestOrigin"
        ),

        // How the cost of work grows with its input, for the tests of readers of foreign input.
        .target(name: "CostMeasurement", path: "Tests/CostMeasurement"),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "Instrument", "InstrumentCommandLine", "InstrumentTerminal", "InstrumentTestKit", "TestTraits",
            ]
        ),
        .testTarget(name: "TerminalTests", dependencies: ["CostMeasurement", "InstrumentTerminal"]),

        // Servers that misbehave on command, and helpers of tests: scratch directories, blocking process Swift's pool, load.
        .target(name: "LoopbackServers", dependencies: ["Instrument"], path: "Tests/LoopbackServers"),

        // Traits of tests: on a separate thread, alone.
        .target(name: "TestTraits", dependencies: ["Instrument", "LoopbackServers"], path: "Tests/TestTraits"),

        .testTarget(
            name: "InstrumentTests",
            dependencies: [
                "Instrument", "InstrumentTestKit", "InstrumentTrackers",
            ]
        ),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "InstrumentObservability", "InstrumentTestKit",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
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
                "CostMeasurement", "InstrumentHTTP", "InstrumentTransport", "InstrumentCompression",
                "InstrumentTestKit",
                "LoopbackServers", "TestTraits",
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
        .testTarget(
            name: "HubsTests",
            dependencies: ["InstrumentTestKit"]
        ),
        // The process that the durable queue's tests kill, and the plan that the tests pass to it.
        .target(name: "QueueChildPlan", path: "Tests/QueueChildPlan"),
        .executableTarget(
            name: "QueueChild",
            dependencies: [
                "CDurableShim",
                "InstrumentDurableQueue", "InstrumentBackends", "InstrumentTestKit",
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
                "InstrumentClickstream", "InstrumentSeer", "InstrumentSift", "InstrumentXAPI", "InstrumentCompression",
                "InstrumentDurableQueue", "InstrumentJSON", "InstrumentTestKit", "InstrumentTransport",
                "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "DurableQueueTests",
            dependencies: [
                "InstrumentDurableQueue", "InstrumentBackends", "InstrumentCompression", "InstrumentTestKit",
                "InstrumentTransport", "LoopbackServers", "PoolChild", "QueueChild",
                "QueueChildPlan",
                "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["FaultShim"]
        ),
        .testTarget(
            name: "OriginTests",
            dependencies: [
                "CostMeasurement", "Instrument", "InstrumentOrigin", "InstrumentTestKit", "InstrumentText",
                "LoopbackServers", "TestOrigin",
                "TestTraits",
                .product(name: "NIOCore", package: "swift-nio"),
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
            dependencies: ["Instrument", "InstrumentMPV", "InstrumentTrackers"],
            path: "Tests/MPVChild"
        ),
        .testTarget(
            name: "MPVTests",
            dependencies: [
                "CostMeasurement", "InstrumentMPV", "MPVChild", "InstrumentJSON", "InstrumentTestKit", "InstrumentText",
                "InstrumentTrackers", "LoopbackServers", "TestTraits",
            ]
        ),
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
                "PlayerMonitor", "InstrumentProbe", "InstrumentTrackers", "InstrumentBackends", "InstrumentCompression",
                "InstrumentJSON", "InstrumentOrigin", "InstrumentSensors", "InstrumentTestKit", "LoopbackServers",
                "TestTraits",
            ],
            exclude: ["Golden"]
        ),
        .testTarget(
            name: "ProbeTests",
            dependencies: [
                "InstrumentProbe", "InstrumentManifests", "InstrumentOrigin", "InstrumentTrackers", "InstrumentTestKit",
                "InstrumentTransport", "LoopbackServers", "TestTraits",
            ]
        ),
    ],
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
