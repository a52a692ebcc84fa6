import InstrumentBackendKinds

extension BackendKinds {
    /// A kind of each form, whose backends cannot be made.
    static let forms = BackendKinds([
        BackendKind("console", summary: "", writesOutput: true) { _ in throw BackendKindError("") },
        kind("file", .path), kind("influx", .url(), .optional("USER:PASSWORD")), kind("collector", .url()),
        kind("graphite", .text("HOST", expecting: "`HOST`")),
        kind("newrelic", .text("ACCOUNT", expecting: "`ACCOUNT`"), .required("a key")),
        kind(
            "kafka",
            .text(
                "HOST:PORT[,HOST:PORT…]/TOPIC",
                expecting: "`HOST:PORT[,HOST:PORT…]/TOPIC` such as `kafka.example.org:9092/samples`"
            ),
            .optional("USER:PASSWORD")
        ), kind("nats", .text("HOST/SUBJECT", expecting: "`HOST/SUBJECT`")),
    ])

    /// A kind that can use every address without an `@`.
    private static func kind(_ name: String, _ address: AddressForm, _ credentials: CredentialsForm? = nil)
        -> BackendKind
    {
        BackendKind(
            name,
            summary: "",
            address: address,
            credentials: credentials,
            read: { if $0.contains("@") { throw BackendKindError("hidden") } },
            make: { _, _ in throw BackendKindError("") }
        )
    }
}
