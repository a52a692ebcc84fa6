// swift-tools-version: 6.1
import PackageDescription

// One small program per open backend. They run without a server: what they would send is printed.
func example(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Playback", .product(name: "Shared", package: "Services")]
            + (["Instrument"] + products).map { .product(name: $0, package: "instrument") }
    )
}

let package = Package(
    name: "OpenBackends",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "../.."), .package(path: "../Services")],
    targets: [
        .target(
            name: "Playback",
            dependencies: [
                .product(name: "Instrument", package: "instrument"), .product(name: "Shared", package: "Services"),
            ]
        ),
        example("InfluxExample", "InstrumentServices", "InstrumentTransport"),
        example("GraphiteExample", "InstrumentServices"),
        example("NewRelicExample", "InstrumentServices", "InstrumentTransport"),
        example("OTLPExample", "InstrumentServices", "InstrumentTransport"),
        example("CMCDExample", "InstrumentServices", "InstrumentTransport"),
        example("KafkaExample", "InstrumentKafka"),
        example("NATSExample", "InstrumentNATS"),
    ],
    swiftLanguageModes: [.v6]
)
