// swift-tools-version: 6.1
import PackageDescription

// A server whose last events arrive when its group of services shuts down, with tests.
func ours(_ names: String...) -> [Target.Dependency] { names.map { .product(name: $0, package: "instrument") } }

let package = Package(
    name: "ServiceLifecycleExample",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "instrument", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "ServerExample",
            dependencies: ours(
                "Instrument",
                "InstrumentBackends",
                "InstrumentServiceLifecycle",
                "InstrumentTrackers"
            ) + [
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "ServiceLifecycleTests",
            dependencies: ours("Instrument", "InstrumentServiceLifecycle", "InstrumentTestKit") + [
                "ServerExample",
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
