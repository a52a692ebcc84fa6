internal import InstrumentBackendKinds
internal import InstrumentNATS
internal import InstrumentText

extension BackendKind {
    static let nats = BackendKind(
        "nats",
        summary: "JetStream; with ?tls, &ca=FILE as needed",
        address: .text(
            "HOST[:PORT][,HOST…]/SUBJECT",
            expecting: "`HOST[:PORT][,HOST…]/SUBJECT` such as `nats.example.org:4222/samples`"
        ),
        credentials: .optional("USER:PASSWORD, a token, a seed, or the text of a credentials file"),
        read: { text in
            if text.split(at: "?").before.split(at: "/").after?.isEmpty ?? true {
                throw BackendKindError("nats needs the subject behind the servers, such as nats:127.0.0.1/SUBJECT")
            }
            _ = try NATSEndpoint(text)
            return text
        },
        make: { text, context in
            let login = try context.credentials.map { try NATSLogin(parsing: $0.text()) }
            return try NATSBackend(NATSEndpoint(text, login: login))
        }
    )
}
