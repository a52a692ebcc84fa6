// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "CustomHub",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .executableTarget(
            name: "CustomHub",
            dependencies: [
                .product(name: "Instrument", package: "instrument")
            ]
        )
    ]
)
