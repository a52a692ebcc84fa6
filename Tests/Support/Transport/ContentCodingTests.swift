#if canImport(Glibc)
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Content codings", .ownThread, .timeLimit(.minutes(30)))
struct ContentCodingTests {
    private static let text = Array("hello world".utf8)
    /// The text by name of its coding, made by other programs.
    private static let coded: [String: [UInt8]] = [
        "deflate": [
            0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0x28, 0xCF, 0x2F, 0xCA, 0x49, 0x01, 0x00, 0x1A, 0x0B, 0x04,
            0x5D,
        ],
        "raw deflate": [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0x28, 0xCF, 0x2F, 0xCA, 0x49, 0x01, 0x00],
        "br": [0x0B, 0x05, 0x80] + text + [0x03],
        "gzip": Gzip.compress(text) ?? [],
    ]

    let transport: SystemTransport

    init() throws { transport = try SystemTransport() }

    private func send(
        _ server: TestServer,
        _ decoding: ContentDecoding = .all,
        range: String? = nil,
        maxBytes: Int = 1 << 20
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, try HTTPURL(server.url()), maxResponseBytes: maxBytes)
        request.decoding = decoding
        if let range { try request.headers.set("Range", range) }
        return try await transport.send(request)
    }

    private func error(
        _ server: TestServer,
        range: String? = nil,
        maxBytes: Int = 1 << 20
    ) async throws -> HTTPError? {
        do { _ = try await send(server, range: range, maxBytes: maxBytes) } catch { return error as? HTTPError }
        return nil
    }

    @Test(
        "A body is decoded from each coding, asked for or not, and its size on the wire is known",
        arguments: [
            ("gzip", "gzip"), ("x-gzip", "gzip"), ("deflate", "deflate"), ("Deflate", "raw deflate"), ("br", "br"),
        ]
    )
    func decodes(name: String, sample: String) async throws {
        guard name != "br" || SystemTransport.supportedCodings.contains(.brotli) else { return }
        let body = try #require(Self.coded[sample])
        let server = try TestServer { _ in [.respond("200 OK", body, "Content-Encoding: \(name)")] }
        for decoding in [ContentDecoding.all, .unasked] {
            let response = try await send(server, decoding)
            #expect(response.body == Self.text)
            #expect(response.encodedByteCount == body.count)
        }
        let asked = server.requests.map { $0.header("Accept-Encoding") }
        let all = SystemTransport.supportedCodings.map(\.rawValue).joined(separator: ", ")
        #expect(asked == [all, nil] && all.hasPrefix("gzip, deflate"))
    }

    @Test("A body coded twice is decoded twice")
    func twice() async throws {
        let body = try #require(Gzip.compress(Self.coded["deflate"] ?? []))
        let server = try TestServer { _ in [.respond("200 OK", body, "Content-Encoding: deflate, gzip")] }
        #expect(try await send(server).body == Self.text)
    }

    @Test("A request without decoding asks for nothing, and its body arrives as it was sent")
    func untouched() async throws {
        let body = try #require(Self.coded["gzip"])
        let server = try TestServer { _ in [.respond("200 OK", body, "Content-Encoding: gzip")] }
        let response = try await send(server, .none)
        #expect(response.body == body && response.encodedByteCount == nil)
        #expect(server.requests.first?.header("Accept-Encoding") == nil)
    }

    @Test("A body that grows beyond the limit ends as too large, after few bytes on the wire")
    func bomb() async throws {
        let body = try #require(Gzip.compress([UInt8](repeating: 0, count: 20 << 20)))
        let server = try TestServer { _ in [.respond("200 OK", body, "Content-Encoding: gzip")] }
        let error = try await error(server, maxBytes: 1 << 20)
        #expect(error?.code == .responseTooLarge && error?.message.contains("gzip") == true, "\(error as Any)")
    }

    @Test("A coding that nobody registered is no coding", arguments: ["utf-8", "aws-chunked", "none", "identity"])
    func unknown(name: String) async throws {
        let server = try TestServer { _ in [.respond("200 OK", Self.text, "Content-Encoding: \(name)")] }
        #expect(try await send(server).body == Self.text)
        let part = try TestServer { _ in
            [
                .respond(
                    "206 Partial Content",
                    Self.text,
                    "Content-Encoding: \(name)",
                    "Content-Range: bytes 0-\(Self.text.count - 1)/99"
                )
            ]
        }
        #expect(try await send(part, range: "bytes=0-\(Self.text.count - 1)").body == Self.text)
        let pieces = Lock([UInt8]())
        var request = HTTPRequest(.get, try HTTPURL(server.url()))
        request.decoding = .all
        let response = try await transport.send(request) { piece in pieces.withLock { $0 += piece } }
        #expect(response.isSuccess && pieces.withLock { $0 } == Self.text)
    }

    @Test(
        "A body that is not in its coding, or in one that cannot be read, is an error that names the coding",
        arguments: ["gzip", "compress"]
    )
    func damaged(name: String) async throws {
        let server = try TestServer { _ in [.respond("200 OK", Self.text, "Content-Encoding: \(name)")] }
        let error = try await error(server)
        #expect(error?.code == .contentCoding && error?.message.contains(name) == true, "\(error as Any)")
    }

    @Test(
        "A gzip body that was cut is an error, wherever the cut is, also where the announced size is that of the rest",
        arguments: [1, 5, 12, 40, -9, -4, -1]
    )
    func cut(count: Int) async throws {
        let text = (0..<2_000).flatMap { "#EXTINF:2,\nsegment\($0).ts\n".utf8 }
        let whole = try #require(Gzip.compress(text))
        let body = Array(whole.prefix(count > 0 ? count : whole.count + count))
        let server = try TestServer { _ in [.respond("200 OK", body, "Content-Encoding: gzip")] }
        let error = try await error(server)
        #expect(error?.code == .contentCoding && error?.message.contains("cut") == true, "\(error as Any)")
    }

    @Test("A gzip body may have several members, and other bytes behind the last one")
    func members() async throws {
        let member = try #require(Self.coded["gzip"])
        for rest in [[], Array("tail".utf8), [UInt8](repeating: 0, count: 600)] {
            let server = try TestServer { _ in [.respond("200 OK", member + member + rest, "Content-Encoding: gzip")] }
            #expect(try await send(server).body == Self.text + Self.text)
        }
    }

    @Test("The status of a failed request counts, whatever its body is")
    func status() async throws {
        let server = try TestServer { _ in [.respond("404 Not Found", Self.text, "Content-Encoding: gzip")] }
        #expect(try await send(server).status == 404)
    }

    @Test("A byte range is asked for without coding, and refused with one")
    func range() async throws {
        let body = try #require(Self.coded["gzip"])
        let server = try TestServer { _ in
            [
                .respond(
                    "206 Partial Content",
                    body,
                    "Content-Encoding: gzip",
                    "Content-Range: bytes 0-\(body.count - 1)/99"
                )
            ]
        }
        let error = try await error(server, range: "bytes=0-\(body.count - 1)")
        #expect(error?.code == .wrongRange && error?.message.contains("gzip") == true, "\(error as Any)")
        #expect(server.requests.first?.header("Accept-Encoding") == "identity")
    }
}
#endif
