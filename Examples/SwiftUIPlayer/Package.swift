// swift-tools-version: 6.1
import PackageDescription

// A SwiftUI app that plays a film with AVPlayer. Run it on a Mac with `swift run`, or open SwiftUIPlayer.xcodeproj with
// Xcode 16 or later, which builds the same sources as an app for iOS, macOS, tvOS and visionOS.
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
