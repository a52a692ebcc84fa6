import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Addresses")
struct HTTPURLTests {
    @Test(
        "An address is equal after parsing and formatting",
        arguments: [
            ("http://Example.org", "http://example.org/"),
            ("HTTPS://example.org:443/a/b?c=d#e", "https://example.org/a/b?c=d#e"),
            ("http://u:p@h:8080/x", "http://u:p@h:8080/x"),
            ("http://[::1]:80/", "http://[::1]/"),
            ("http://h/a b|ü?q=\"", "http://h/a%20b%7C%C3%BC?q=%22"),
            ("http://h:/", "http://h/"),
            ("http://h?q", "http://h/?q"),
        ]
    )
    func parsing(text: String, whole: String) throws {
        #expect(try HTTPURL(text).secretText == whole)
    }

    @Test(
        "Text that is not an http or https address is refused, and the error does not repeat it",
        arguments: [
            "", "h", "ftp://secret/", "file:///secret", "http:/secret", "http://", "http:///secret", "http://secret:0/",
            "http://secret:65536/", "http://secret:-1/", "http://secret:8o/", "http://se cret/", "http://secret\r\n/",
            "http://sécret/", "http://[secret]/", "http://[::1/", "http://secret\\@evil/", "http://secret/\u{0}",
            "http://se%63ret/", "javascript:secret", "http://[::1]secret/",
        ]
    )
    func refusal(text: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPURL(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(
        "A description, a dump and a reflection hide user, password, query and fragment",
        arguments: ["http://secret:secret@host/path?secret#secret", "http://host/path?\u{301}secret#\u{301}secret"]
    )
    func redaction(text: String) throws {
        let url = try HTTPURL(text)
        var dumped = ""
        dump(Optional(url), to: &dumped)
        for shown in ["\(url)", String(reflecting: Optional(url)), dumped, "\([url])", "\(HTTPRequest(.get, url))"] {
            #expect(!shown.contains("secret"))
            #expect(shown.contains("http://host/path"))
        }
    }

    @Test(
        "A reference resolves as in RFC 3986 section 5.4",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("https://z/../x", "https://z/x"),
        ]
    )
    func resolving(reference: String, expected: String) throws {
        #expect(try HTTPURL("http://a/b/c/d;p?q").resolving(reference).secretText == expected)
    }

    @Test(
        "A query parameter takes the place of all parameters of its name, and of no others",
        arguments: [
            ("http://h/a", "http://h/a?N=1"), ("http://h/a?x=1#f", "http://h/a?x=1&N=1#f"),
            ("http://h/a?N=0&x=1&N&NN=2", "http://h/a?x=1&NN=2&N=1"), ("http://h/?xN=1", "http://h/?xN=1&N=1"),
        ]
    )
    func parameters(address: String, expected: String) throws {
        #expect(try HTTPURL(address).replacingParameter("N", with: "N=1").secretText == expected)
    }

    @Test("A reference with another scheme than http is refused", arguments: ["mailto:a", "file:///etc", "g:h", "//"])
    func foreignReferences(reference: String) throws {
        let url = try HTTPURL("http://a/")
        #expect(throws: HTTPError.self) { try url.resolving(reference) }
    }
}
