// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "CustomBackend",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .executableTarget(
            name: "CustomBackend",
            dependencies: [
                .product(name: "Instrument", package: "instrument")
            ]
        )
    ]
)
