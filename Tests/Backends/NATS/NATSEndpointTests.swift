import InstrumentBackends
import InstrumentText
import Testing

@testable import InstrumentNATS

@Suite("NATS endpoint and login")
struct NATSEndpointTests {
    private static let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    private static let file = """
        -----BEGIN NATS USER JWT-----
        eyJ0eXAi.eyJq.c2ln
        ------END NATS USER JWT------

        ************************* IMPORTANT *************************
        -----BEGIN USER NKEY SEED-----
        \(seed)
        ------END USER NKEY SEED------
        """

    @Test("An endpoint is read from its text")
    func text() throws {
        let plain = try NATSEndpoint("a,b:4223,[::1]:1/video.samples")
        #expect(
            plain.addresses.map(\.description) == ["a:4222", "b:4223", "[::1]:1"] && plain.subject == "video.samples"
        )
        #expect(plain.tls == nil)
        #expect(try NATSEndpoint("a/s?tls").tls == TLSFiles())
        #expect(try NATSEndpoint("a/s?tls&ca=%2Fca.pem").tls == TLSFiles(authorityFile: "/ca.pem"))
    }

    @Test(
        "A text that is no endpoint is refused",
        arguments: [
            "", "/s", "a", "a/", "a:0/s", "a:x/s", ",/s", "a b/s", "a/s?x", "a/s?ca=", "a/s s", "a/s.*", "a/>", "a/.s",
            "a/s.", "a/s..t", "a/s\r\nPUB x 0",
        ]
    )
    func noText(text: String) {
        let error = #expect(throws: NATSError.self) { try NATSEndpoint(text) }
        #expect(error?.code == .invalidEndpoint)
    }

    @Test("A login is read from each of its forms")
    func logins() throws {
        #expect(try NATSLogin(parsing: " a-token\n") == .token("a-token"))
        #expect(try NATSLogin(parsing: "user:pass:word") == .password(user: "user", "pass:word"))
        #expect(try NATSLogin(parsing: Self.seed) == .nkey(seed: Self.seed))
        let login = try NATSLogin(parsing: Self.file)
        #expect(login.kind == .credentials(jwt: "eyJ0eXAi.eyJq.c2ln", try NKey(seed: Self.seed)))
        #expect(try NATSLogin(parsing: Self.file.split(separator: "\n").joined(separator: "\r\n")) == login)
    }

    @Test(
        "A login in none of the forms is refused",
        arguments: [
            "", "\n", "a\nb", "-----BEGIN NATS USER JWT-----\n\n", String(seed.dropLast()) + "Z",
            "SUaCSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY",
        ]
    )
    func noLogins(text: String) {
        let error = #expect(throws: NATSError.self) { try NATSLogin(parsing: text) }
        #expect(error?.code == .invalidCredentials)
        #expect(text.count < 40 || error?.description.contains(text) == false)
    }

    @Test("A key has the public key of its seed, and signs a nonce")
    func keys() throws {
        let key = try NKey(seed: Self.seed)
        #expect(key.publicText == "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4")
        let signature = try #require(key.signature(of: "nonce"))
        #expect(
            signature.count == 64 && signature == key.signature(of: "nonce") && signature != key.signature(of: "none")
        )
    }

    @Test("Base 32 is read back, and other bits than those of the bytes are refused")
    func base32() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            #expect(Base32.decode(Base32.encode(bytes)) == bytes)
        }
        #expect(Base32.encode(Array("foobar".utf8)) == "MZXW6YTBOI")
        for text in ["M", "MZ1", "MZXW6YTBOJ", "mzxw6ytboi"] { #expect(Base32.decode(text) == nil) }
    }

    @Test("No description and no dump shows a secret")
    func secrets() throws {
        for text in ["secret-token", "user:secret-word", Self.seed, Self.file] {
            let endpoint = try NATSEndpoint("a/s", login: NATSLogin(parsing: text))
            var dumped = "\(endpoint)"
            dump(endpoint, to: &dumped)
            dump(try NATSBackend(endpoint), to: &dumped)
            for secret in ["secret-", Self.seed, "eyJ0"] { #expect(!dumped.contains(secret)) }
        }
    }
}
