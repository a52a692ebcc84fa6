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
        let fixed = Self.promises(endpoint, configuration) + (try Self.security(endpoint.security))
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
        secrets = endpoint.security.login.map { [$0.password] } ?? []
    }

    /// The settings of a consumer that reads a topic from its own positions.
    init(reading endpoint: KafkaEndpoint) throws(KafkaError) {
        fixed =
            [
                ("bootstrap.servers", endpoint.brokers.joined(separator: ",")),
                ("security.protocol", Self.protocolName(endpoint.security)),
                // The name of a group is needed, and nothing is committed for it.
                ("group.id", "player-monitor"), ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"),
                ("enable.partition.eof", "true"), ("check.crcs", "true"), ("allow.auto.create.topics", "false"),
                // What was deleted before it could be read is gone: reading continues with the oldest that is there.
                ("auto.offset.reset", "earliest"),
                // The most bytes that wait in memory.
                ("queued.max.messages.kbytes", "16384"), ("queued.min.messages", "10000"),
            ] + (try Self.security(endpoint.security))
        others = []
        secrets = endpoint.security.login.map { [$0.password] } ?? []
    }

    private static func security(_ security: KafkaSecurity) throws(KafkaError) -> [(name: String, value: String)] {
        var fixed: [(name: String, value: String)] = []
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
        return fixed
    }

    /// Only the names, so that no dump shows a password.
    var customMirror: Mirror { Mirror(self, children: ["names": (fixed + others).map(\.name)]) }

    private static func protocolName(_ security: KafkaSecurity) -> String {
        (security.login == nil ? "" : "sasl_") + (security.tls == nil ? "plaintext" : "ssl")
    }

    private static func promises(
        _ endpoint: KafkaEndpoint,
        _ configuration: KafkaConfiguration
    ) -> [(name: String, value: String)] {
        let count = max(1000, 2 * configuration.policy.maxCount)
        return [
            ("bootstrap.servers", endpoint.brokers.joined(separator: ",")),
            ("security.protocol", protocolName(endpoint.security)),
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
