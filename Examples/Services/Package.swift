// swift-tools-version: 6.1
import PackageDescription

// A small program for each service. None of them needs the service: requests are printed in place of being sent.
func example(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Shared"]
            + (["Instrument", "InstrumentHubs"] + products).map { .product(name: $0, package: "instrument") }
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
