import Instrument
import InstrumentCompression
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Requests and headers")
struct HTTPMessageTests {
    @Test(
        "A name or value with a line break is refused",
        arguments: [
            ("A", "1\r\nB: 2"), ("A", "1\nB: 2"), ("A", "\u{0}"), ("A: 1\r\nB", "2"), ("", "1"), ("A B", "1"),
            ("A:", "1"),
            ("Ä", "1"),
        ]
    )
    func injection(name: String, value: String) {
        var headers = HTTPHeaders()
        let error = #expect(throws: HTTPError.self) { try headers.add(name, value) }
        #expect(error?.code == .invalidHeader)
        #expect(headers.fields.isEmpty)
        #expect(throws: HTTPError.self) { try headers.set(name, value) }
    }

    @Test("A method is refused when it is not a token", arguments: ["", "GET /", "GET\r\n", "ÄT"])
    func methods(spelling: String) {
        #expect(HTTPMethod(spelling) == nil)
    }

    @Test("Names are compared without regard to case, and the order is kept")
    func names() throws {
        var headers = try HTTPHeaders(["B": "1", "a": "2", "b": " 3\t"])
        #expect(headers["b"] == "1")
        #expect(headers.values(of: "B") == ["1", "3"])
        #expect(headers.fields.map(\.name) == ["B", "a", "b"])
        try headers.set("b", "4")
        #expect(headers.fields.map(\.value) == ["2", "4"])
        headers.remove("A")
        #expect(headers.fields.map(\.value) == ["4"])
    }

    @Test(
        "A response is fresh as RFC 9111 says",
        arguments: [
            (["Cache-Control": "public, max-age=60"], 60), (["Cache-Control": "MAX-AGE=60", "Age": "20"], 40),
            (["Cache-Control": "max-age=60", "Age": "90"], 0), (["Cache-Control": "max-age=60, no-store"], 0),
            (["Cache-Control": "no-cache, max-age=60"], 0), (["Cache-Control": "max-age=60", "Vary": "*"], 0),
            (["Cache-Control": "max-age=-1"], 0), (["Cache-Control": "max-age=9999999999999999999"], 0),
            (["Cache-Control": "max-age=9223372036854775807"], 1 << 31), ([:], 0), (["Cache-Control": "public"], 0),
            // The clock says 00:01:40 on 1 January 1970.
            (["Expires": "Thu, 01 Jan 1970 00:02:10 GMT"], 30), (["Expires": "0"], 0),
            (["Expires": "Thu, 01 Jan 1970 00:02:10 GMT", "Cache-Control": "max-age=5"], 5),
            (["Date": "Thu, 01 Jan 1970 00:01:30 GMT", "Cache-Control": "max-age=60"], 50),
            (["Date": "Thu, 01 Jan 1970 00:03:00 GMT", "Expires": "Thu, 01 Jan 1970 00:03:30 GMT"], 30),
            (["Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"], 10), (["Last-Modified": "yesterday"], 0),
            (["Last-Modified": "Thu, 01 Jan 2099 00:00:00 GMT"], 0),
        ] as [(KeyValuePairs<String, String>, Int)]
    )
    func freshness(fields: KeyValuePairs<String, String>, seconds: Int) throws {
        #expect(try HTTPHeaders(fields).freshness(at: WallTime(milliseconds: 100_000)) == .seconds(seconds))
    }

    @Test(
        "No description shows a secret",
        arguments: ["Authorization", "cookie", "Set-Cookie", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Plain"]
    )
    func secrets(name: String) throws {
        var headers = HTTPHeaders()
        try headers.add(name, "secret", isSecret: name == "X-Plain")
        try headers.add("Accept", "shown")
        let request = HTTPRequest(.post, try HTTPURL("http://h/?secret"), headers: headers, body: Array("secret".utf8))
        var dumped = ""
        dump([request], to: &dumped)
        dump(headers, to: &dumped)
        dump(headers.fields, to: &dumped)
        for shown in ["\(request)", String(reflecting: request), dumped, "\(headers)", "\(headers.fields)"] {
            #expect(!shown.contains("secret"))
            #expect(shown.contains("shown"))
        }
        let response = HTTPResponse(status: 200, headers: headers, body: Array("secret".utf8), url: request.url)
        #expect(!"\(response) \(String(reflecting: response))".contains("secret"))
    }

    @Test("A compressed body decompresses to the original")
    func gzip() throws {
        let body = [UInt8](repeating: 7, count: 10_000)
        let request = HTTPRequest(.post, try HTTPURL("http://h/"), body: body).gzipped()
        #expect(request.headers["content-encoding"] == "gzip")
        #expect(request.body.count < 100)
        #expect(try unpacked(request.body) == body)
        #expect(request.gzipped() == request)
    }

    @Test("A body is sent uncompressed when gzip does not make it smaller")
    func tooSmall() throws {
        let request = HTTPRequest(.post, try HTTPURL("http://h/"), body: [1, 2, 3])
        #expect(request.gzipped() == request)
    }
}

func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
    var gunzip = Gunzip()
    var output: [UInt8] = []
    try gunzip.unpack(bytes) { output += $0 }
    return output
}
