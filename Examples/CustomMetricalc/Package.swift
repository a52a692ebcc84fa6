// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "CustomMetricalc",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .executableTarget(
            name: "CustomMetricalc",
            dependencies: [
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentQuality", package: "instrument"),
            ]
        )
    ]
)
