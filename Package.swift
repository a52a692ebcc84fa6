// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "instrument",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Instrument", targets: ["Instrument"]),
        .library(name: "InstrumentHubs", targets: ["InstrumentHubs"]),
        .library(name: "InstrumentMetricalcs", targets: ["InstrumentMetricalcs"]),
        .library(name: "InstrumentBackends", targets: ["InstrumentBackends"]),
    ],
    targets: [
        // The vocabulary, the chain, the typed app events and the shared queue. Imports nothing of ours.
        .target(name: "Instrument"),
        .target(name: "InstrumentHubs", dependencies: ["Instrument"], path: "Sources/Hubs"),
        .target(name: "InstrumentMetricalcs", dependencies: ["Instrument"], path: "Sources/Metricalcs"),
        .target(name: "InstrumentBackends", dependencies: ["Instrument"], path: "Sources/Backends"),

        .testTarget(name: "InstrumentTests", dependencies: ["Instrument"]),
        .testTarget(name: "BackendsTests", dependencies: ["InstrumentBackends"]),
        .testTarget(name: "HubsTests", dependencies: ["InstrumentHubs", "InstrumentMetricalcs"]),
    ],
    swiftLanguageModes: [.v6]
)

// One loop gives every Swift target the same settings.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
