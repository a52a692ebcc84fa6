// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "instrument",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Instrument", targets: ["Instrument"]),
        .library(name: "InstrumentHubs", targets: ["InstrumentHubs"]),
        .library(name: "InstrumentMetricalcs", targets: ["InstrumentMetricalcs"]),
        .library(name: "InstrumentTrackers", targets: ["InstrumentTrackers"]),
        .library(name: "InstrumentServiceLifecycle", targets: ["InstrumentServiceLifecycle"]),
        .library(name: "InstrumentSensors", targets: ["InstrumentSensors"]),
        .library(name: "InstrumentProbe", targets: ["InstrumentProbe"]),
        .library(name: "InstrumentMPV", targets: ["InstrumentMPV"]),
        .library(name: "InstrumentBackends", targets: ["InstrumentBackends"]),
        .library(name: "InstrumentXAPI", targets: ["InstrumentXAPI"]),
        .library(name: "InstrumentSeer", targets: ["InstrumentSeer"]),
        .library(name: "InstrumentClickstream", targets: ["InstrumentClickstream"]),
        .library(name: "InstrumentSift", targets: ["InstrumentSift"]),
        .library(name: "InstrumentDurableQueue", targets: ["InstrumentDurableQueue"]),
        .library(name: "InstrumentJSON", targets: ["InstrumentJSON"]),
        .library(name: "InstrumentTransport", targets: ["InstrumentTransport"]),
        .library(name: "InstrumentManifests", targets: ["InstrumentManifests"]),
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
        // The vocabulary, the chain, the typed app events and the shared queue. Imports nothing of ours.
        .target(name: "Instrument"),
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
        .target(name: "InstrumentHubs", dependencies: ["Instrument"], path: "Sources/Hubs"),
        .target(name: "InstrumentMetricalcs", dependencies: ["Instrument"], path: "Sources/Metricalcs"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // One gzip for the backends and the transport.
        .target(name: "InstrumentCompression", dependencies: ["CZlib"], path: "Sources/Compression"),
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
            dependencies: ["Instrument", "InstrumentJSON", "InstrumentText", "InstrumentTransport"],
            path: "Sources/Backends/Clickstream"
        ),
        .target(
            name: "InstrumentSift",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentFiles", "InstrumentJSON", "InstrumentSensors",
                "InstrumentTransport",
            ],
            path: "Sources/Backends/Sift"
        ),

        // The one room that knows HTTP: libcurl on Linux, URLSession on Apple platforms, which link no libcurl.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CTransportShim", dependencies: [.target(name: "CCurl", condition: .when(platforms: [.linux]))]),
        .target(
            name: "InstrumentTransport",
            dependencies: [
                "Instrument", "InstrumentCompression", "InstrumentJSON", "InstrumentText",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
                .target(name: "CTransportShim", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Transport"
        ),

        // HLS and DASH manifests, and the timeline that a player plays from. No I/O.
        .target(
            name: "InstrumentManifests",
            dependencies: ["Instrument", "InstrumentText", "InstrumentTransport"],
            path: "Sources/Manifests"
        ),

        // Learning records: statements, their rules, the client of an LRS, and Seer's own payloads.
        .target(
            name: "InstrumentXAPI",
            dependencies: [
                "Instrument", "InstrumentFiles", "InstrumentJSON", "InstrumentText", "InstrumentTransport",
            ],
            path: "Sources/Backends/XAPI"
        ),
        // The Seer service: its client with a queue of its own rules, and the backend.
        .target(
            name: "InstrumentSeer",
            dependencies: ["Instrument", "InstrumentJSON", "InstrumentTransport", "InstrumentXAPI"],
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

        // The command line. Its dependencies are not those of the libraries.
        .executableTarget(
            name: "PlayerMonitor",
            dependencies: [
                "Instrument", "InstrumentHubs", "InstrumentMetricalcs", "InstrumentTrackers", "InstrumentProbe",
                "InstrumentBackends", "InstrumentClickstream", "InstrumentDurableQueue", "InstrumentFiles",
                "InstrumentJSON",
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
                "InstrumentFiles", "InstrumentOrigin", "InstrumentTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/TestOrigin"
        ),

        // How the cost of work grows with its input, for the tests of readers of foreign input.
        .target(name: "CostMeasurement", path: "Tests/CostMeasurement"),
        .testTarget(name: "TerminalTests", dependencies: ["CostMeasurement", "InstrumentTerminal"]),

        // Servers that misbehave on command, and helpers of tests: scratch directories, blocking work off Swift's pool, load.
        .target(name: "LoopbackServers", dependencies: ["Instrument"], path: "Tests/LoopbackServers"),

        // Traits of tests: on a thread of its own, alone.
        .target(name: "TestTraits", dependencies: ["Instrument", "LoopbackServers"], path: "Tests/TestTraits"),

        .testTarget(
            name: "InstrumentTests",
            dependencies: [
                "Instrument", "InstrumentHubs", "InstrumentMetricalcs", "InstrumentTestKit", "InstrumentTrackers",
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
                "InstrumentClickstream", "InstrumentDurableQueue", "InstrumentHubs", "InstrumentMetricalcs",
                "InstrumentTestKit", "InstrumentText", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "SiftTests",
            dependencies: [
                "InstrumentSift", "InstrumentCompression", "InstrumentDurableQueue", "InstrumentHubs",
                "InstrumentMetricalcs", "InstrumentSensors", "InstrumentTestKit", "LoopbackServers", "TestTraits",
            ],
            exclude: ["Golden"]
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "CostMeasurement", "InstrumentTransport", "InstrumentCompression", "InstrumentTestKit",
                "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "ManifestsTests",
            dependencies: [
                "CostMeasurement", "InstrumentManifests", "InstrumentTestKit", "LoopbackServers", "TestTraits",
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
            dependencies: ["InstrumentHubs", "InstrumentMetricalcs", "InstrumentTestKit"]
        ),
        // The process that the durable queue's tests kill, and the plan that the tests pass to it.
        .target(name: "QueueChildPlan", path: "Tests/QueueChildPlan"),
        .executableTarget(
            name: "QueueChild",
            dependencies: [
                "InstrumentDurableQueue", "InstrumentBackends", "InstrumentHubs", "InstrumentTestKit",
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
                "InstrumentDurableQueue", "InstrumentBackends", "InstrumentCompression", "InstrumentHubs",
                "InstrumentTestKit", "InstrumentTransport", "LoopbackServers", "PoolChild", "QueueChild",
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
                "InstrumentTrackers", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentHubs",
                "InstrumentSensors",
            ],
            path: "Tests/LifecycleChild"
        ),
        .testTarget(
            name: "TrackersTests",
            dependencies: [
                "InstrumentTrackers", "InstrumentBackends", "InstrumentHubs", "InstrumentTestKit", "LifecycleChild",
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
                "CostMeasurement", "InstrumentMPV", "MPVChild", "InstrumentHubs", "InstrumentJSON",
                "InstrumentMetricalcs", "InstrumentTestKit", "InstrumentText", "InstrumentTrackers", "LoopbackServers",
                "TestTraits",
            ]
        ),
        // The program that sees mocked devices and a network of its own.
        .executableTarget(
            name: "SensorsChild",
            dependencies: ["Instrument", "InstrumentSensors"],
            path: "Tests/SensorsChild"
        ),
        .testTarget(
            name: "SensorsTests",
            dependencies: [
                "CostMeasurement", "Instrument", "InstrumentCompression", "InstrumentHubs", "InstrumentJSON",
                "InstrumentSensors", "InstrumentSift", "InstrumentTestKit", "InstrumentText", "InstrumentTrackers",
                "InstrumentTransport", "SensorsChild", "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "TestKitTests",
            dependencies: [
                "Instrument", "InstrumentTestKit", "InstrumentTrackers", "InstrumentHubs", "InstrumentMetricalcs",
                "LoopbackServers", "TestTraits",
            ]
        ),
        .testTarget(
            name: "PlayerMonitorTests",
            dependencies: [
                "PlayerMonitor", "InstrumentProbe", "InstrumentTrackers", "InstrumentHubs", "InstrumentMetricalcs",
                "InstrumentBackends", "InstrumentCompression", "InstrumentJSON", "InstrumentOrigin",
                "InstrumentSensors",
                "InstrumentTestKit", "LoopbackServers", "TestTraits",
            ],
            exclude: ["Golden"]
        ),
        .testTarget(
            name: "ProbeTests",
            dependencies: [
                "InstrumentProbe", "InstrumentManifests", "InstrumentOrigin", "InstrumentTrackers", "InstrumentHubs",
                "InstrumentMetricalcs", "InstrumentTestKit", "InstrumentTransport", "LoopbackServers", "TestTraits",
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
