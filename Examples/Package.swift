// swift-tools-version: 6.1
import PackageDescription

// Programs that embed the library, as an app does. `swift run --package-path Examples CustomBackend` runs one of them.
// The command lines in `PlayerMonitor` and `TestOrigin` belong to the main package, the app in `SwiftUIPlayer` to a
// package for Xcode.

func products(_ names: [String]) -> [Target.Dependency] { names.map { .product(name: $0, package: "instrument") } }

func example(_ name: String, _ others: String...) -> Target {
    .executableTarget(name: name, dependencies: products(["Instrument"] + others), path: name)
}

/// A backend at work. Without an address it prints what it would send.
func backend(_ name: String, _ others: String...) -> Target {
    .executableTarget(
        name: "\(name)Example",
        dependencies: ["Shared"] + products(["Instrument"] + others),
        path: "Backends/\(name)"
    )
}

let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "instrument", path: ".."),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        example("CustomBackend"),
        // `player-monitor` with one more backend.
        example("CustomCommandLine", "InstrumentCommands"),
        example("CustomHub"),
        example("CustomMetricalc", "InstrumentQuality"),
        example("CustomTracker"),
        // A video player with a window: GTK 4 and GStreamer.
        .systemLibrary(
            name: "CGTK",
            path: "EmbeddedPlayer/CGTK",
            pkgConfig: "gtk4 gstreamer-base-1.0",
            providers: [.apt(["libgtk-4-dev", "libgstreamer1.0-dev"])]
        ),
        .executableTarget(
            name: "EmbeddedPlayer",
            dependencies: products([
                "Instrument", "InstrumentBackends", "InstrumentDurableQueue", "InstrumentGStreamer",
            ]) + ["CGTK"],
            path: "EmbeddedPlayer/Sources"
        ),

        .target(
            name: "Shared",
            dependencies: products(["Instrument", "InstrumentTransport"]),
            path: "Backends/Shared"
        ),
        backend("Clickstream", "InstrumentServices", "InstrumentTransport"),
        backend("Sift", "InstrumentSensors", "InstrumentTransport"),
        backend("Seer", "InstrumentServices", "InstrumentTransport"),
        backend("XAPI", "InstrumentServices", "InstrumentTransport"),
        backend("Influx", "InstrumentServices", "InstrumentTransport"),
        backend("Graphite", "InstrumentServices"),
        backend("NewRelic", "InstrumentServices", "InstrumentTransport"),
        backend("OTLP", "InstrumentServices", "InstrumentTransport"),
        backend("CMCD", "InstrumentServices", "InstrumentTransport"),
        backend("Kafka", "InstrumentKafka"),
        backend("NATS", "InstrumentNATS"),

        // A server whose last events arrive when its group of services shuts down.
        .executableTarget(
            name: "ServerExample",
            dependencies: products(["Instrument", "InstrumentBackends", "InstrumentTrackers"]) + [
                lifecycle, .product(name: "Logging", package: "swift-log"),
            ],
            path: "ServiceLifecycle",
            exclude: ["Tests"]
        ),
        .testTarget(
            name: "ServiceLifecycleTests",
            dependencies: products(["Instrument", "InstrumentTestKit", "InstrumentTrackers"]) + [
                "ServerExample", .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            path: "ServiceLifecycle/Tests"
        ),
    ],
    swiftLanguageModes: [.v6]
)
