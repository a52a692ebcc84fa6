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
    dependencies: [.package(name: "instrument", path: "../..")],
    targets: [
        .target(
            name: "Shared",
            dependencies: ["Instrument", "InstrumentTransport"].map { .product(name: $0, package: "instrument") }
        ),
        example("ClickstreamExample", "InstrumentClickstream", "InstrumentTransport"),
        example("SiftExample", "InstrumentSift", "InstrumentTransport"),
        example("SeerExample", "InstrumentSeer", "InstrumentXAPI", "InstrumentTransport"),
        example("XAPIExample", "InstrumentXAPI", "InstrumentTransport"),
    ],
    swiftLanguageModes: [.v6]
)
