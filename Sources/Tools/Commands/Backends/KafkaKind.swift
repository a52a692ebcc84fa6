internal import InstrumentBackendKinds
internal import InstrumentKafka
internal import InstrumentText

extension BackendKind {
    static let kafka = BackendKind(
        "kafka",
        summary: "with ?tls, &ca=FILE, &sasl=MECHANISM as needed",
        address: .text(
            "HOST:PORT[,HOST:PORT…]/TOPIC",
            expecting: "`HOST:PORT[,HOST:PORT…]/TOPIC` such as `kafka.example.org:9092/samples`"
        ),
        credentials: .optional("USER:PASSWORD"),
        read: { text in
            if text.split(at: "?").before.split(at: "/").after?.isEmpty ?? true {
                throw BackendKindError("kafka needs the topic behind the brokers, such as kafka:127.0.0.1:9092/TOPIC")
            }
            // Checked with a login, because the parameters may name its mechanism. The login itself is checked later.
            _ = try KafkaEndpoint(text, login: ("", ""))
            return text
        },
        make: { text, context in
            let login = try context.credentials?.pair()
            return try KafkaBackend(KafkaEndpoint(text, login: login.map { ($0.name, $0.secret) }))
        }
    )
}
