// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "EmbeddedPlayer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .executableTarget(
            name: "EmbeddedPlayer",
            dependencies: [
                // Without the probe, so without FFmpeg.
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentTrackers", package: "instrument"),
                .product(name: "InstrumentBackends", package: "instrument"),
            ]
        )
    ]
)
