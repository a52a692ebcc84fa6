// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "CustomTracker",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .executableTarget(
            name: "CustomTracker",
            dependencies: [
                .product(name: "Instrument", package: "instrument")
            ]
        )
    ]
)
