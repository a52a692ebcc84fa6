// swift-tools-version: 6.1
import PackageDescription

// One small program per service. They run without the service: requests are printed instead of sent.
func example(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Shared"]
            + (["Instrument"] + products).map { .product(name: $0, package: "instrument") }
    )
}

let package = Package(
    name: "Services",
    platforms: [.macOS(.v15)],
    // For the other packages of examples.
    products: [.library(name: "Shared", targets: ["Shared"])],
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .target(
            name: "Shared",
            dependencies: ["Instrument", "InstrumentTransport"].map { .product(name: $0, package: "instrument") }
        ),
        example("ClickstreamExample", "InstrumentServices", "InstrumentTransport"),
        example("SiftExample", "InstrumentSensors", "InstrumentTransport"),
        example("SeerExample", "InstrumentServices", "InstrumentTransport"),
        example("XAPIExample", "InstrumentServices", "InstrumentTransport"),
    ],
    swiftLanguageModes: [.v6]
)
