#if !canImport(Darwin)
import Testing

@testable import InstrumentTransport

@Suite("Heads of responses")
struct ResponseHeadTests {
    @Test("Each head of several has its own codings, and values have no line breaks and no space at their ends")
    func heads() {
        var head = ResponseHead()
        func add(_ line: String) { _ = Array(line.utf8).withUnsafeBytes { head.add($0) } }
        add("HTTP/1.1 103 Early Hints\r\n")
        add("content-encoding: GZIP, identity\r\n")
        #expect(head.contentCodings == ["gzip"])
        add("Content-Encoding: br\r\n")
        #expect(head.contentCodings == ["gzip", "br"])
        add("HTTP/1.1 200 OK\r\n")
        #expect(head.contentCodings.isEmpty && head.headers.fields.isEmpty)
        add("Server: \t a\rb c \t\r\n")
        add("Empty: \r\n")
        #expect(head.headers["server"] == "ab c")
        #expect(head.headers["empty"]?.isEmpty == true)
    }
}
#endif
