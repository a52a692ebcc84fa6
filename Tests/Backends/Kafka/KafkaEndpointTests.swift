import InstrumentBackends
import InstrumentKafka
import Testing

@Suite("Kafka endpoint and settings")
struct KafkaEndpointTests {
    @Test("An endpoint is read from its text")
    func text() throws {
        let plain = try KafkaEndpoint("a:9092,[::1]:9093,b/samples.v1")
        #expect(plain.brokers == ["a:9092", "[::1]:9093", "b"] && plain.topic == "samples.v1")
        #expect(plain.security == KafkaSecurity())
        let tls = try KafkaEndpoint("a:9093/t?tls&ca=%2Fetc%2Fca.pem&sasl=plain", login: ("user", "secret"))
        #expect(tls.security.tls == TLSFiles(authorityFile: "/etc/ca.pem"))
        #expect(tls.security.login == KafkaSecurity.Login(.plain, user: "user", password: "secret"))
        let login = try KafkaEndpoint("a:9093/t", login: ("user", "secret")).security.login
        #expect(login?.mechanism == .scramSHA512)
    }

    @Test(
        "A text that is no endpoint is refused",
        arguments: [
            "", "/t", "a", "a/", "a/b/c", "a:0/t", "a:x/t", "a:65536/t", ":1/t", "a,,b/t", "a b/t", "a/t?x", "a/t?ca=",
            "a/t?sasl=plain", "a/t?sasl=gssapi", "a/..", "a/t t", "a/\u{E9}", "::1/t", "[]:1/t",
            "a/" + String(repeating: "t", count: 250), "user@a:1/t",
        ]
    )
    func noText(text: String) {
        let error = #expect(throws: KafkaError.self) { try KafkaEndpoint(text) }
        #expect(error?.code == .invalidEndpoint)
    }

    @Test("A setting that the promises depend on, and one that librdkafka does not know, are refused")
    func properties() throws {
        let endpoint = try KafkaEndpoint("a:9092/t")
        for (name, value, words) in [
            ("acks", "1", "\"acks\" belongs to the backend"),
            ("enable.idempotence", "false", "\"enable.idempotence\" belongs to the backend"),
            ("no.such.setting", "1", "no.such.setting"),
        ] {
            let error = #expect(throws: KafkaError.self) {
                try KafkaBackend(endpoint, configuration: KafkaConfiguration(properties: [name: value]))
            }
            #expect(error?.code == .invalidSetting)
            #expect(error?.description.contains(words) == true)
        }
        _ = try KafkaBackend(endpoint, configuration: KafkaConfiguration(properties: ["client.rack": "a"]))
        #expect(throws: KafkaError.self) {
            try KafkaBackend(endpoint, configuration: KafkaConfiguration(maxMessageBytes: 1))
        }
    }

    @Test("A password is not sent without encryption")
    func plainLogin() throws {
        let endpoint = try KafkaEndpoint("a:9092/t?sasl=plain", login: ("user", "secret"))
        let error = #expect(throws: KafkaError.self) { try KafkaBackend(endpoint) }
        #expect(error?.description.contains("requires TLS") == true)
        _ = try KafkaBackend(KafkaEndpoint("a:9092/t?tls&sasl=plain", login: ("user", "secret")))
        _ = try KafkaBackend(KafkaEndpoint("a:9092/t", login: ("user", "secret")))
    }

    @Test("No description and no dump shows the password")
    func secrets() throws {
        let endpoint = try KafkaEndpoint("a:9092/t?tls", login: ("user", "pass-word"))
        var dumped = ""
        dump(endpoint, to: &dumped)
        #expect(!"\(endpoint) \(endpoint.security)".contains("pass-word") && !dumped.contains("pass-word"))
        let backend = try KafkaBackend(endpoint)
        dump(backend, to: &dumped)
        #expect(!dumped.contains("pass-word"))
    }
}
