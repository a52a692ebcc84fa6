// swift-tools-version: 6.1
import PackageDescription

// Compiles the sources for Apple platforms on Linux, against modules that declare what they use of Apple's frameworks,
// and tests their logic there; the transport over URLSession, against the URLSession of FoundationNetworking. A
// separate package without products: in the graph of the main package these modules would make `canImport` true for
// everybody.
//
// `scripts/link-apple-sources.sh` makes `Linked`, links to the sources of the main package: they are compiled as they
// are, in one package, because targets share what has `package` access.

/// Modules of this project under the names of Apple's and Google's, with signatures from their documentation.
let stubs: [Target] = [
    .target(name: "AVFoundation", path: "Stubs/AVFoundation"),
    .target(name: "AVKit", dependencies: ["AVFoundation", "SwiftUI"], path: "Stubs/AVKit"),
    .target(name: "AppKit", path: "Stubs/AppKit"),
    .target(name: "CoreLocation", path: "Stubs/CoreLocation"),
    .target(name: "CoreMotion", path: "Stubs/CoreMotion"),
    .target(name: "GoogleInteractiveMediaAds", path: "Stubs/GoogleInteractiveMediaAds"),
    .target(name: "Network", path: "Stubs/Network"),
    .target(name: "SwiftUI", path: "Stubs/SwiftUI"),
    .target(name: "UIKit", path: "Stubs/UIKit"),
]

/// Sources of the main package.
let sources: [Target] = [
    .target(name: "CSignalShim", path: "Linked/Sources/System/CSignalShim"),
    .target(
        name: "Instrument",
        path: "Linked/Sources",
        exclude: [
            "Instrument/Instrument.docc", "Instrument/PrivacyInfo.xcprivacy", "Backends", "Media", "Metricalcs/Quality",
            "Metricalcs/Sampling", "Monitor",
            "Queue/Durable", "Queue/Observability", "Support", "System", "Testing", "Tools", "Trackers",
        ],
        sources: ["Instrument", "Hubs", "Metricalcs/Core", "Queue/Batching"]
    ),
    .target(name: "InstrumentText", dependencies: ["Instrument"], path: "Linked/Sources/Support/Text"),
    .target(
        name: "InstrumentJSON",
        dependencies: ["Instrument", "InstrumentText"],
        path: "Linked/Sources/Support/JSON"
    ),
    .target(
        name: "InstrumentFiles",
        dependencies: ["Instrument", "InstrumentText"],
        path: "Linked/Sources/Support/Files"
    ),
    .systemLibrary(name: "CZlib", path: "Linked/Sources/System/CZlib", pkgConfig: "zlib"),
    .target(
        name: "InstrumentHTTP",
        dependencies: ["Instrument", "InstrumentJSON", "InstrumentText"],
        path: "Linked/Sources/Support/HTTP"
    ),
    .target(
        name: "InstrumentCompression",
        dependencies: ["CZlib", "InstrumentHTTP"],
        path: "Linked/Sources/Support/Compression"
    ),
    .target(
        name: "InstrumentTransport",
        dependencies: ["Instrument", "InstrumentCompression", "InstrumentHTTP", "InstrumentText"],
        path: "Linked/Sources/Support/Transport",
        // Without the transport over libcurl.
        exclude: ["InstrumentTransport.docc"],
        sources: [
            "Exchange.swift", "HTTPRequest+Sending.swift", "SystemTransport.swift", "TransportConfiguration.swift",
            "URLSession",
        ]
    ),
    .target(
        name: "InstrumentTrackers",
        dependencies: ["CSignalShim", "Instrument", "InstrumentFiles", "AppKit", "UIKit"],
        path: "Linked/Sources/Trackers/Lifecycle"
    ),
    .target(
        name: "InstrumentSensors",
        dependencies: [
            "Instrument", "InstrumentFiles", "InstrumentJSON", "InstrumentText", "CoreLocation", "CoreMotion",
            "Network", "UIKit",
        ],
        path: "Linked/Sources/Trackers/Sensors",
        exclude: ["PrivacyInfo.xcprivacy"]
    ),
    .target(
        name: "InstrumentTestKit",
        dependencies: ["Instrument", "InstrumentTrackers"],
        path: "Linked/Sources/Testing/TestKit"
    ),
    .target(
        name: "InstrumentAVPlayer",
        dependencies: ["Instrument", "AVFoundation"],
        path: "Linked/Sources/Trackers/AVPlayer"
    ),
    .target(
        name: "InstrumentIMA",
        dependencies: ["Instrument", "GoogleInteractiveMediaAds"],
        path: "Linked/Sources/Trackers/IMA"
    ),
    .target(
        name: "InstrumentSwiftUI",
        dependencies: ["Instrument", "SwiftUI"],
        path: "Linked/Sources/Trackers/SwiftUI"
    ),
    .executableTarget(
        name: "SwiftUIPlayer",
        dependencies: [
            "Instrument", "InstrumentAVPlayer", "InstrumentIMA", "InstrumentSwiftUI", "InstrumentTrackers",
            "AVFoundation", "AVKit", "GoogleInteractiveMediaAds", "SwiftUI", "UIKit",
        ],
        path: "Linked/SwiftUIPlayer"
    ),
]

let tests: [Target] = [
    .target(name: "LoopbackServers", dependencies: ["Instrument"], path: "Linked/Tests/Shared/LoopbackServers"),
    .target(
        name: "TestTraits",
        dependencies: ["Instrument", "LoopbackServers"],
        path: "Linked/Tests/Shared/TestTraits"
    ),
    // The contract of a transport, as it is tested over libcurl.
    .testTarget(
        name: "TransportTests",
        dependencies: [
            "Instrument", "InstrumentCompression", "InstrumentHTTP", "InstrumentTestKit", "InstrumentTransport",
            "LoopbackServers", "TestTraits",
        ],
        path: "Linked/Tests/Support/Transport",
        sources: [
            "ReceivingTests.swift", "RedirectTests.swift", "RequestedRangeTests.swift", "TransportErrorTests.swift",
            "TransportTests.swift", "CancellationTests.swift", "CookieJarTests.swift", "HTTPMessageTests.swift",
            "URLSessionGap.swift",
        ]
    ),
    .testTarget(
        name: "URLSessionTests",
        dependencies: ["Instrument", "InstrumentTestKit", "InstrumentTransport", "LoopbackServers", "TestTraits"]
    ),
    .testTarget(
        name: "AVPlayerTests",
        dependencies: ["Instrument", "InstrumentAVPlayer", "InstrumentTestKit"],
        path: "Linked/Tests/Trackers/AVPlayer"
    ),
    .testTarget(
        name: "AVPlayerBindingTests",
        dependencies: ["AVFoundation", "Instrument", "InstrumentAVPlayer", "InstrumentTestKit"]
    ),
    .testTarget(
        name: "IMATests",
        dependencies: ["Instrument", "InstrumentIMA", "InstrumentTestKit"],
        path: "Linked/Tests/Trackers/IMA"
    ),
    .testTarget(
        name: "IMABindingTests",
        dependencies: ["GoogleInteractiveMediaAds", "Instrument", "InstrumentIMA", "InstrumentTestKit"]
    ),
    .testTarget(
        name: "SwiftUIBindingTests",
        dependencies: ["Instrument", "InstrumentSwiftUI", "InstrumentTestKit", "SwiftUI"]
    ),
    .testTarget(
        name: "SystemBindingTests",
        dependencies: [
            "AppKit", "CoreLocation", "CoreMotion", "Instrument", "InstrumentSensors", "InstrumentTestKit",
            "InstrumentTrackers", "Network", "UIKit",
        ]
    ),
]

// As in the main package.
for target in sources + tests where target.type != .system && !target.name.hasPrefix("C") {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
// A trait of the main package.
for target in sources where target.name == "InstrumentIMA" {
    target.swiftSettings = (target.swiftSettings ?? []) + [.define("IMA")]
}
for target in sources + tests where ["InstrumentTransport", "TransportTests"].contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.define("URLSESSION_CHECK")]
}
// Swift Testing has overlays for frameworks of these names, which exist on Apple platforms only.
for target in tests {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"])
        ]
}
// As Apple's frameworks: their enumerations can get further cases.
for target in stubs {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"), .unsafeFlags(["-enable-library-evolution"]),
    ]
}

let package = Package(name: "AppleStubs", targets: stubs + sources + tests, swiftLanguageModes: [.v6])
