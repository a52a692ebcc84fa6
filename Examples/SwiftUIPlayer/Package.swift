// swift-tools-version: 6.1
import PackageDescription

// A SwiftUI app that plays a film with AVPlayer. Open the folder with Xcode, or run it on a Mac with `swift run`.
let package = Package(
    name: "SwiftUIPlayer",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .executableTarget(
            name: "SwiftUIPlayer",
            dependencies: [
                .product(name: "Instrument", package: "instrument"),
                .product(name: "InstrumentApple", package: "instrument"),
                .product(name: "InstrumentTrackers", package: "instrument"),
            ]
        )
    ]
)
