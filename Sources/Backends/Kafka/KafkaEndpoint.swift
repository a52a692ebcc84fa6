internal import Instrument
internal import InstrumentBackends
internal import InstrumentText

/// The cluster and the topic that samples are produced to.
///
/// ```swift
/// let brokers = ["kafka-1.example.org:9092", "kafka-2.example.org:9092"]
/// let endpoint = try KafkaEndpoint(brokers: brokers, topic: "samples")
/// ```
public struct KafkaEndpoint: Hashable, Sendable {
    /// The brokers that the producer asks for the members of the cluster: `HOST` or `HOST:PORT`.
    package let brokers: [String]
    /// The topic, which must exist, unless the brokers create topics.
    package let topic: String
    /// TLS and the login.
    public var security: KafkaSecurity

    /// The longest name of a topic, in bytes.
    private static let maxTopicLength = 249

    /// Creates an endpoint.
    ///
    /// - Throws: ``KafkaError`` with the code `invalidEndpoint` for a list without brokers, for a broker that is no
    ///   `HOST:PORT`, and for a topic that Kafka does not allow.
    public init(
        brokers: [String],
        topic: String,
        security: KafkaSecurity = KafkaSecurity()
    ) throws(KafkaError) {
        if brokers.isEmpty {
            throw KafkaError(.invalidEndpoint, "the list of brokers must name at least one HOST:PORT (found none)")
        }
        if let wrong = brokers.first(where: { HostPort($0, defaultPort: 9092) == nil }) {
            throw KafkaError(.invalidEndpoint, "a broker must be HOST:PORT (found \"\(wrong)\")")
        }
        guard Self.isTopic(topic) else {
            throw KafkaError(
                .invalidEndpoint,
                "a topic must have 1 to \(Self.maxTopicLength) letters, digits, '.', '_' or '-' (found \"\(topic)\")"
            )
        }
        self.brokers = brokers
        self.topic = topic
        self.security = security
    }

    /// Reads `HOST:PORT,HOST:PORT/TOPIC`, followed by parameters if any: `?tls`, `&ca=FILE`, `&sasl=MECHANISM`.
    ///
    /// The mechanisms are `scram-sha-512`, which is the default for a login, `scram-sha-256` and `plain`.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - login: user and password; nil for a cluster without a login.
    /// - Throws: ``KafkaError`` with the code `invalidEndpoint` for any other text, and for a mechanism without a
    ///   login.
    public init(_ text: String, login: (user: String, password: String)? = nil) throws(KafkaError) {
        let (address, query) = text.split(at: "?")
        let (hosts, topic) = address.split(at: "/")
        var security = KafkaSecurity()
        var mechanism: KafkaSecurity.Mechanism?
        for pair in query?.split(separator: "&", omittingEmptySubsequences: false) ?? [] {
            let (name, value) = pair.split(at: "=")
            switch (name, value) {
            case ("tls", nil): security.tls = security.tls ?? TLSFiles()
            case ("ca", let file?) where !file.isEmpty:
                security.tls = TLSFiles(
                    authorityFile: String(decoding: PercentCoding.decoded(file), as: UTF8.self)
                )
            case ("sasl", let name?):
                mechanism = KafkaSecurity.Mechanism(parameter: String(name))
                if mechanism == nil {
                    throw KafkaError(
                        .invalidEndpoint,
                        "sasl must be scram-sha-512, scram-sha-256 or plain (found \"\(name)\")"
                    )
                }
            default:
                throw KafkaError(
                    .invalidEndpoint,
                    "the parameters of a Kafka endpoint are tls, ca=FILE and sasl=MECHANISM (found \"\(pair)\")"
                )
            }
        }
        if let login {
            security.login = KafkaSecurity.Login(mechanism ?? .scramSHA512, user: login.user, password: login.password)
        } else if mechanism != nil {
            throw KafkaError(.invalidEndpoint, "sasl requires a user and a password")
        }
        let brokers = hosts.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try self.init(brokers: brokers, topic: topic.map(String.init) ?? "", security: security)
    }

    private static func isTopic(_ text: String) -> Bool {
        (1...maxTopicLength).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "._-".utf8.contains($0) }
    }
}
