// swift-tools-version: 6.1
import PackageDescription

// A separate package, so that users of Instrument never fetch or build what only benchmarks need.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "instrument", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        // Counts this thread's allocations and instructions.
        .target(name: "CMeasure"),
        .executableTarget(
            name: "EmitBenchmark",
            dependencies: [
                "CMeasure",
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentDurableQueue", package: "instrument"),
                // The peer beside which an emit is measured.
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(
            name: "QueueBenchmark",
            dependencies: [
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentBackends", package: "instrument"),
                .product(name: "InstrumentTransport", package: "instrument"),
                .product(name: "InstrumentDurableQueue", package: "instrument"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .executableTarget(
            name: "BackendBenchmark",
            dependencies: [
                "Instrument", "InstrumentBackends", "InstrumentSensors", "InstrumentServices", "InstrumentKafka",
                "InstrumentNATS", "InstrumentTransport",
            ].map { .product(name: $0, package: "instrument") }
        ),
        .executableTarget(
            name: "ProbeBenchmark",
            dependencies: ["Instrument", "InstrumentOrigin", "InstrumentProbe"].map {
                .product(name: $0, package: "instrument")
            }
        ),
        .executableTarget(
            name: "ReplayBenchmark",
            dependencies: [
                "CMeasure",
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentBackends", package: "instrument"),
                .product(name: "InstrumentQuality", package: "instrument"),
            ]
        ),
        .executableTarget(
            name: "QualityBenchmark",
            dependencies: [
                "CMeasure",
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentQuality", package: "instrument"),
            ]
        ),
        // A day of virtual players, for scripts/run-fleet.py.
        .executableTarget(
            name: "FleetSimulation",
            dependencies: [
                "Instrument", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentKafka", "InstrumentNATS",
                "InstrumentQuality", "InstrumentTestKit",
            ].map { .product(name: $0, package: "instrument") }
        ),
        .executableTarget(
            name: "ValidationBenchmark",
            dependencies: ["CMeasure", .product(name: "InstrumentServices", package: "instrument")]
        ),
        // The probe beside a real mpv.
        .executableTarget(
            name: "MPVComparison",
            dependencies: [
                "Instrument", "InstrumentOrigin", "InstrumentProbe", "InstrumentTestKit", "InstrumentTrackers",
            ].map { .product(name: $0, package: "instrument") }
        ),
    ],
    swiftLanguageModes: [.v6]
)
