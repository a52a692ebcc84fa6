import Instrument
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentSift

@Suite("Account and key", .ownThread)
struct SiftSecretsTests {
    @Test("appear in no description, no dump and no string that contains the credentials")
    func descriptions() throws {
        let credentials = try Make.credentials()
        var texts = ["\(credentials)", String(reflecting: credentials), String(describing: [credentials])]
        var dumped = ""
        dump(["credentials": credentials], to: &dumped)
        texts.append(dumped)
        for text in texts {
            #expect(!text.contains("acc") && !text.contains("beacon"))
        }
    }

    @Test(
        "are nil if one is missing or the account would change the path",
        arguments: [("", "k"), ("a", ""), (".", "k"), ("..", "k")]
    )
    func missing(account: String, key: String) {
        #expect(SiftCredentials(accountID: account, beaconKey: key) == nil)
    }

    @Test(
        "The account is percent-encoded",
        arguments: [
            ("abcXYZ019-._~", "abcXYZ019-._~"), ("a/b?c#d%e f", "a%2Fb%3Fc%23d%25e%20f"), ("é😀", "%C3%A9%F0%9F%98%80"),
            ("@[`{", "%40%5B%60%7B"), ("a:b@c", "a%3Ab%40c"),
        ]
    )
    func encoding(account: String, encoded: String) throws {
        let credentials = try #require(SiftCredentials(accountID: account, beaconKey: "k"))
        #expect(credentials.encodedAccount == encoded)
        let url = try SiftEndpoint.sift.url(encodedAccount: credentials.encodedAccount)
        #expect(url.path == "/v3/accounts/\(encoded)/mobile_events")
    }

    @Test("Only the key is encoded, for keys of any characters")
    func authorization() throws {
        let credentials = try #require(SiftCredentials(accountID: "a", beaconKey: "ké\r\n"))
        #expect(credentials.authorization == "Basic a8OpDQo=")
    }

    @Test(
        "An endpoint has one place for the account",
        arguments: ["https://h/", "https://h/%@/%@", "ftp://h/%@", "%@", ""]
    )
    func badEndpoints(format: String) {
        #expect(throws: HTTPError.self) { try SiftEndpoint(format: format) }
    }

    @Test("appear in no dump of logger, backend or request")
    func objects() async throws {
        let chain = try SiftChain(try SiftService())
        let transport = RecordingTransport()
        let backend = SiftBackend(credentials: try Make.credentials(), transport: transport)
        _ = await backend.deliver(Batch(records: [Make.record(Make.sample("Start"))]))
        let request = try #require(transport.requests.first)
        var text = String(reflecting: chain.sift)
        dump(chain.sift, to: &text)
        dump(backend, to: &text)
        dump(request.headers, to: &text)
        for secret in ["acc/1", "acc%2F1", "beacon-key", "YmVhY29u"] { #expect(!text.contains(secret)) }
    }

    @Test("A secret that is part of another secret does not reveal the rest")
    func nestedSecrets() throws {
        let credentials = try #require(SiftCredentials(accountID: "key", beaconKey: "key-of-key"))
        #expect(credentials.hidden(in: "key-of-key key akeyb") == "… … a…b")
    }

    @Test("A custom endpoint receives the account in place of its placeholder")
    func endpoints() throws {
        let format = try SiftEndpoint(format: "http://127.0.0.1:8080/x/%@?key=%20")
        #expect(try format.url(encodedAccount: "a%2Fb").secretText == "http://127.0.0.1:8080/x/a%2Fb?key=%20")
        #expect("\(format)" == "http://127.0.0.1:8080")
        let origin = try SiftEndpoint(origin: "http://127.0.0.1:8080")
        #expect(origin.format == "http://127.0.0.1:8080/v3/accounts/%@/mobile_events")
    }
}
