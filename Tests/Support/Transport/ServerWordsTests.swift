import Instrument
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Messages of servers")
struct ServerWordsTests {
    private func words(_ body: String, headers: HTTPHeaders = HTTPHeaders(), url: String = "http://h.org/in") throws
        -> String?
    {
        try words(Array(body.utf8), headers: headers, url: url)
    }

    private func words(_ body: [UInt8], headers: HTTPHeaders = HTTPHeaders(), url: String = "http://h.org/in") throws
        -> String?
    {
        let url = try HTTPURL(url)
        let response = HTTPResponse(status: 400, body: body, url: url)
        return ServerWords.words(of: response, to: HTTPRequest(.post, url, headers: headers))
    }

    @Test(
        "A server's message is the message field of the body, or the whole body, in one line",
        arguments: [
            ("no such verb", "no such verb"), ("", nil), (" \r\n\t ", nil),
            ("a\r\n  b\tc\u{85}d\u{2028}e", "a b c d e"),
            ("\u{1B}[31mred\u{7}\u{9B}2J\u{202E}x\u{0}", "[31mred 2J x"),
            (#"{"error":"no such verb"}"#, "no such verb"),
            (#"{"error":"invalid_client","error_description":"unknown client"}"#, "unknown client: invalid_client"),
            (#"{"status":400,"title":"Bad","detail":"verb.id"}"#, "verb.id: Bad"),
            (
                #"{"message":"Bad","errors":["verb.id is no IRI"]}"#,
                #"{"errors":["verb.id is no IRI"],"message":"Bad"}"#
            ),
            (#""just a text""#, "just a text"), ("[1]", "[1]"), (#"{"message":"a\u001b[2Jb\nc"}"#, "a [2Jb c"),
            ("<html><head><title>404</title></head>\n<body><h1>Not here</h1></body></html>", "404 Not here"),
        ] as [(String, String?)]
    )
    func forms(body: String, expected: String?) throws { #expect(try words(body) == expected) }

    @Test("Invalid UTF-8 is replaced, and the length in bytes is limited for any characters")
    func bounds() throws {
        #expect(try words([0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
        let marks = "a" + String(repeating: "\u{301}", count: 100_000)
        for body in [String(repeating: "x", count: 100_000), marks, String(repeating: "ä€😀", count: 10_000)] {
            let words = try #require(try words(body))
            #expect((ServerWords.maxLength - 4...ServerWords.maxLength).contains(words.utf8.count))
            #expect(words.hasSuffix("…"))
        }
        let exact = String(repeating: "x", count: ServerWords.maxLength)
        #expect(try words(exact) == exact)
    }

    @Test(
        "A message repeats no secret of the request, in any encoding",
        arguments: [
            "the-se/cret", "dXNlcjp0aGUtc2UvY3JldA==", "user:the-se/cret", "the-se%2Fcret",
            "Basic dXNlcjp0aGUtc2UvY3JldA==",
            "token-123", "a-key", "query-secret",
        ]
    )
    func secrets(secret: String) throws {
        let headers = try HTTPHeaders([
            "Authorization": "Basic dXNlcjp0aGUtc2UvY3JldA==", "X-Api-Key": "a-key", "Cookie": "token-123",
        ])
        let bodies = [
            "wrong: \(secret)!", "{\"message\":\"wrong: \(secret)\"}", "{\"a\":{\"\(secret)\":[\"\(secret)\"]}}",
            "{\"message\":\"\(secret.utf8.map { "\\u00" + String($0, radix: 16) }.joined())\"}",
            "<html><p title=x>a <i>\(secret)</i>", String(repeating: "x", count: ServerWords.maxLength - 8) + secret,
        ]
        for body in bodies {
            let words = try #require(try words(body, headers: headers, url: "http://h.org/in?k=query-secret"))
            #expect(!words.contains(secret), "\(body)")
            #expect(words.contains("…"))
            for part in ["se/cret", "token-123", "a-key", "query-secret"] { #expect(!words.contains(part), "\(body)") }
        }
    }

    @Test("Secrets of the address are hidden, and words that name a user are kept")
    func address() throws {
        let url = "http://user:p%40ss@h.org/in?token=abcd1234"
        let words = try words("user with p@ss or p%40ss, dXNlcjpwQHNz, ?token=abcd1234, abcd1234", url: url)
        #expect(words == "user with … or …, …, ?…, …")
    }

    @Test(
        "Final outcomes, missing credentials and wrong addresses have the server's words, retries the status",
        arguments: [
            (400, DeliveryOutcome.refused(reason: "HTTP 400: why")), (422, .refused(reason: "HTTP 422: why")),
            (404, .retry(after: nil, reason: "HTTP 404: why (\(ForeignAnswer.address.remedy))")),
            (413, .tooLarge(reason: "HTTP 413: why")), (410, .gone(reason: "HTTP 410: why")),
            (401, .unauthorized(reason: "HTTP 401: why")),
            (302, .retry(after: nil, reason: "HTTP 302 (\(ForeignAnswer.elsewhere.remedy))")),
            (503, .retry(after: nil, reason: "HTTP 503")), (200, .acknowledged),
        ]
    )
    func outcomes(status: Int, expected: DeliveryOutcome) throws {
        let url = try HTTPURL("http://h.org/in")
        let response = HTTPResponse(status: status, body: Array("why".utf8), url: url)
        let now = WallTime(milliseconds: 0)
        #expect(DeliveryOutcome(response, to: HTTPRequest(.post, url), now: now) == expected)
    }
}
