internal import Instrument
internal import InstrumentBackends

/// The settings of librdkafka for a producer, in the order in which they are made.
struct KafkaSettings: CustomReflectable {
    /// The settings that the backend's promises depend on.
    let fixed: [(name: String, value: String)]
    /// The further settings.
    let others: [(name: String, value: String)]
    /// Texts that no message may show.
    let secrets: [String]

    init(_ endpoint: KafkaEndpoint, _ configuration: KafkaConfiguration) throws(KafkaError) {
        var fixed = Self.promises(endpoint, configuration)
        let security = endpoint.security
        if let tls = security.tls {
            let files = [
                ("ssl.ca.location", tls.authorityFile), ("ssl.certificate.location", tls.certificateFile),
                ("ssl.key.location", tls.keyFile),
            ]
            fixed += files.compactMap { name, file in file.map { (name, $0) } }
            fixed.append(("ssl.endpoint.identification.algorithm", "https"))
        }
        if let login = security.login {
            if login.mechanism == .plain, security.tls == nil {
                throw KafkaError(
                    .invalidSetting,
                    "a login with the mechanism PLAIN requires TLS, because it sends the password as it is; use TLS or SCRAM"
                )
            }
            fixed += [
                ("sasl.mechanism", login.mechanism.rawValue), ("sasl.username", login.user),
                ("sasl.password", login.password),
            ]
        }
        let reserved = Set(
            fixed.map(\.name) + ["metadata.broker.list", "request.required.acks", "acks", "sasl.mechanisms"]
        )
        if let name = configuration.properties.keys.sorted().first(where: reserved.contains) {
            throw KafkaError(
                .invalidSetting,
                "the setting \"\(name)\" belongs to the backend; remove it from the properties"
            )
        }
        self.fixed = fixed
        others = configuration.properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        secrets = security.login.map { [$0.password] } ?? []
    }

    /// Only the names, so that no dump shows a password.
    var customMirror: Mirror { Mirror(self, children: ["names": (fixed + others).map(\.name)]) }

    private static func promises(
        _ endpoint: KafkaEndpoint,
        _ configuration: KafkaConfiguration
    ) -> [(name: String, value: String)] {
        let security = endpoint.security
        let name = (security.login == nil ? "" : "sasl_") + (security.tls == nil ? "plaintext" : "ssl")
        let count = max(1000, 2 * configuration.policy.maxCount)
        return [
            ("bootstrap.servers", endpoint.brokers.joined(separator: ",")),
            ("security.protocol", name),
            ("enable.idempotence", "true"),
            ("acks", "all"),
            ("message.timeout.ms", "\(max(1, configuration.timeout.milliseconds))"),
            ("message.max.bytes", "\(configuration.maxMessageBytes)"),
            ("queue.buffering.max.messages", "\(count)"),
            ("queue.buffering.max.kbytes", "\(max(1, configuration.maxBufferedBytes >> 10))"),
            // A batch is complete when librdkafka receives it: a longer wait would add nothing.
            ("linger.ms", "1"),
            // Otherwise the end of a batch waits 40 ms for the acknowledgement of what was sent before.
            ("socket.nagle.disable", "true"),
            ("compression.codec", configuration.compression.rawValue),
            // The partition that Kafka's Java client chooses for the key.
            ("partitioner", "murmur2_random"),
        ]
    }
}
