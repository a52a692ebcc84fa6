#if canImport(Glibc)
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Responses to byte ranges", .ownThread, .timeLimit(.minutes(30)))
struct RequestedRangeTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var requested = "bytes=100-199"
        var status = "206 Partial Content"
        var range: String?
        var count: Int
        /// A part of the error; nil for a response that is in order.
        var defect: String?
    }

    @Test(
        "A response of status 206 has the requested bytes, or is an error that names both",
        arguments: [
            Answer(testDescription: "the range", range: "bytes 100-199/300", count: 100),
            Answer(testDescription: "a size that is unknown", range: "bytes 100-199/*", count: 100),
            Answer(testDescription: "the end of the file", range: "bytes 100-149/150", count: 50),
            Answer(testDescription: "an open end", requested: "bytes=100-", range: "bytes 100-299/300", count: 200),
            Answer(testDescription: "a sloppy header", range: "bytes=100-199/300", count: 100),
            Answer(testDescription: "no header and the right size", range: nil, count: 100),
            Answer(testDescription: "the whole file, told", status: "200 OK", range: nil, count: 300),
            Answer(
                testDescription: "the whole file under the right header",
                range: "bytes 100-199/300",
                count: 300,
                defect: "300 bytes, expected 100"
            ),
            Answer(testDescription: "no header and the whole file", range: nil, count: 300, defect: "expected 100"),
            Answer(testDescription: "another range", range: "bytes 0-99/300", count: 100, defect: "bytes 0-99/300"),
            Answer(testDescription: "a shorter range", range: "bytes 100-149/300", count: 50, defect: "100-149/300"),
            Answer(testDescription: "a longer range", range: "bytes 100-299/300", count: 200, defect: "100-299/300"),
            Answer(
                testDescription: "fewer bytes than its header says",
                range: "bytes 100-199/300",
                count: 60,
                defect: "60 bytes, expected 100"
            ),
        ]
    )
    func answers(_ answer: Answer) async throws {
        let server = try TestServer { _ in
            let body = [UInt8](repeating: 1, count: answer.count)
            guard let range = answer.range else { return [.respond(answer.status, body)] }
            return [.respond(answer.status, body, "Content-Range: \(range)")]
        }
        var request = HTTPRequest(.get, try HTTPURL(server.url()))
        try request.headers.set("Range", answer.requested)
        do throws(HTTPError) {
            let response = try await SystemTransport().send(request)
            #expect(answer.defect == nil && response.body.count == answer.count)
        } catch {
            let defect = try #require(answer.defect, "\(error)")
            #expect(error.code == .wrongRange && error.message.contains(defect), "\(error)")
        }
    }

    @Test("A body without a length ends once it exceeds its range")
    func unbounded() async throws {
        let server = try TestServer { _ in
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/100\r\nConnection: close\r\n\r\n"
            return [.send(Array(head.utf8)), .sendWithoutEnd()]
        }
        var request = HTTPRequest(.get, try HTTPURL(server.url()))
        try request.headers.set("Range", "bytes=0-9")
        let error = await #expect(throws: HTTPError.self) { try await SystemTransport().send(request) }
        #expect(error?.code == .wrongRange)
    }
}
#endif
