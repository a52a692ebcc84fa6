import Instrument
import InstrumentJSON
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite("The xAPI client", .ownThread)
struct XAPIClientTests {
    private func client(_ server: TestServer, version: XAPIVersion = .v1) throws -> XAPIClient {
        let configuration = XAPIConfiguration(
            endpoint: try HTTPURL(server.url("/base/xapi/")),
            credentials: .bearer("the-secret"),
            version: version
        )
        return XAPIClient(configuration, transport: try SystemTransport())
    }

    private let statement = Statement(
        id: SampleID(log: 7, sequence: 1),
        actor: Watching.viewer,
        verb: Statement.Verb("https://example.org/liked"),
        object: .activity(Statement.Activity("https://example.org/films/1"))
    )

    @Test("The client follows 'more' from page to page, relative to the server")
    func more() async throws {
        let body = statement.json.description
        let server = try TestServer { request in
            let more = request.target.hasPrefix("/base/xapi/statements?") ? "/base/xapi/more?cursor=a%2Fb" : ""
            return [.respond("200 OK", Array(#"{"statements":[\#(body)],"more":"\#(more)"}"#.utf8))]
        }
        let client = try client(server)
        let query = StatementQuery(
            agent: Watching.viewer,
            verb: "https://example.org/a b",
            registration: SampleID(log: 7, sequence: 9),
            since: WallTime(milliseconds: 0),
            limit: 1,
            isAscending: true
        )
        let first = try await client.statements(query)
        #expect(first.statements == [statement])
        let second = try #require(try await client.statements(after: first))
        #expect(second.isLast)
        #expect(try await client.statements(after: second) == nil)
        let targets = server.requests.map(\.target)
        #expect(targets[0].contains("&verb=https%3A%2F%2Fexample.org%2Fa%20b&registration=00000000-0000-4001-b"))
        #expect(targets[0].hasSuffix("&since=1970-01-01T00%3A00%3A00.000Z&limit=1&ascending=true"))
        #expect(targets[1] == "/base/xapi/more?cursor=a%2Fb")
        #expect(server.requests.allSatisfy { $0.header("Authorization") == "Bearer the-secret" })
    }

    @Test("The client sends no request and no credentials when 'more' names another server")
    func foreignMore() async throws {
        let other = try TestServer { _ in [.respond("200 OK")] }
        for more in [other.url("/x"), "//127.0.0.1:\(other.port)/x"] {
            let server = try TestServer { _ in [.respond("200 OK", Array(#"{"statements":[],"more":"\#(more)"}"#.utf8))]
            }
            let error = await #expect(throws: XAPIError.self) { try await client(server).statements() }
            #expect(error?.code == .malformedAnswer)
        }
        #expect(other.requests.isEmpty)
    }

    @Test("The client voids a statement by one that refers to it")
    func voiding() async throws {
        let server = try TestServer { _ in [.respond("200 OK", Array("[]".utf8))] }
        try await client(server).void(
            SampleID(log: 7, sequence: 1),
            by: Watching.viewer,
            as: SampleID(log: 7, sequence: 2),
            at: WallTime(milliseconds: 0)
        )
        let body = try #require(server.requests.first?.body)
        guard case .array(let statements) = try JSONValue(parsing: body) else { throw Unexpected() }
        #expect(statements[0]["verb"]?["id"] == "http://adlnet.gov/expapi/verbs/voided")
        #expect(statements[0]["object"] == ["objectType": "StatementRef", "id": .id(SampleID(log: 7, sequence: 1))])
        #expect(StatementValidator().failures(in: statements[0]) == [])
    }

    @Test("A resume position is read, and is written only if it has not changed since")
    func state() async throws {
        let server = try TestServer { request in
            if request.head.hasPrefix("GET") {
                return request.target.contains("stateId=none")
                    ? [.respond("404 Not Found")]
                    : [.respond("200 OK", Array("42".utf8), "ETag: \"v1\"", "Content-Type: text/plain")]
            }
            let isCurrent = request.header("If-Match") == "\"v1\"" || request.header("If-None-Match") == "*"
            return [.respond(isCurrent ? "204 No Content" : "412 Precondition Failed")]
        }
        let client = try client(server)
        let agent = Statement.Agent(.mailbox("mailto:a@example.org"))
        var key = StateKey(activity: "https://example.org/films/1", agent: agent)
        let document = try #require(try await client.state(key))
        #expect(document == StateDocument(content: Array("42".utf8), contentType: "text/plain", etag: "\"v1\""))
        try await client.put(document, as: key, if: .unchanged(etag: "\"v1\""))
        let error = await #expect(throws: XAPIError.self) {
            try await client.put(document, as: key, if: .unchanged(etag: "\"v0\""))
        }
        #expect(error?.code == .changedMeanwhile)
        key.id = "none"
        #expect(try await client.state(key) == nil)
        try await client.put(document, as: key, if: .absent)
        let target = try #require(server.requests.first?.target)
        #expect(
            target.hasPrefix("/base/xapi/activities/state?activityId=https%3A%2F%2Fexample.org%2Ffilms%2F1&agent=%7B")
        )
        #expect(target.hasSuffix("&stateId=resume"))
    }

    @Test("Attachment contents are sent with their statements under their checksums, with the same bytes each time")
    func attachments() async throws {
        let server = try TestServer { _ in [.respond("200 OK", Array("[]".utf8))] }
        let data = AttachmentContent([0, 13, 10, 45, 45, 255], contentType: "application/octet-stream")
        var statement = statement
        statement.attachments = [
            data.attachment(usageType: "https://example.org/usage/proof", display: ["en": "Proof"])
        ]
        for _ in 0..<2 { try await client(server).store([statement], attachments: [data, data]) }
        let request = try #require(server.requests.first)
        #expect(request.body == server.requests[1].body)
        let boundary = try #require(request.header("Content-Type")?.split(separator: "=").last)
        #expect(request.header("Content-Type") == "multipart/mixed; boundary=\(boundary)")
        let head = "--\(boundary)\r\nContent-Type: application/json\r\n\r\n[\(statement.json)]\r\n--\(boundary)\r\n"
        let second = "Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n"
        let hash = "X-Experience-API-Hash: \(data.sha2)\r\n\r\n"
        #expect(request.body == Array((head + second + hash).utf8) + data.bytes + Array("\r\n--\(boundary)--\r\n".utf8))
        #expect(statement.failures() == [])
    }

    @Test("Attachment contents are read with their statement, and refused when the checksum differs")
    func attachmentsRead() async throws {
        let data = AttachmentContent([0, 13, 10, 45, 45, 255, 13, 10], contentType: "image/png")
        let list = Array(#"{"statements":[\#(statement.json)],"more":""}"#.utf8)
        for (isWhole, first) in [(true, statement.json.bytes), (true, list), (false, list)] {
            let sent = MultipartMixed(statements: first, [data])
            let body = isWhole ? sent.body : Array(sent.body.replacing([45, 45, 255], with: [45, 45, 254]))
            let server = try TestServer { _ in [.respond("200 OK", body, "Content-Type: \(sent.contentType)")] }
            if isWhole {
                let found = try #require(
                    try await client(server).statementWithAttachments(SampleID(log: 7, sequence: 1))
                )
                #expect(found.statement == statement.json)
                #expect(found.attachments == [data])
            } else {
                await #expect(throws: XAPIError.self) {
                    try await client(server).statementWithAttachments(SampleID(log: 7, sequence: 1))
                }
            }
        }
    }

    @Test(
        "A multipart body that is cut off anywhere is not read",
        arguments: ["", "--b", "--b\r\n\r\n", "--b\r\nA: b\r\n\r\nx", "--b\r\nA: b\r\n--b--", "x"]
    )
    func badParts(text: String) {
        #expect(MultipartParts(Array(text.utf8), contentType: "multipart/mixed; boundary=b") == nil)
        #expect(
            MultipartParts(Array("--b--".utf8), contentType: "multipart/mixed; boundary=\"b\"")?.parts.isEmpty == true
        )
        #expect(MultipartParts(Array("--b--".utf8), contentType: "application/json; boundary=b") == nil)
    }

    @Test("The client reads the LRS's versions, and announces 2.0 when configured")
    func about() async throws {
        let server = try TestServer { _ in
            [.respond("200 OK", Array(#"{"version":["1.0.3","2.0.0"],"extensions":{"https://e.org/x":1}}"#.utf8))]
        }
        let about = try await client(server, version: .v2).about()
        #expect(about == XAPIClient.About(versions: ["1.0.3", "2.0.0"], extensions: ["https://e.org/x": 1]))
        #expect(server.requests.first?.header("X-Experience-API-Version") == "2.0.0")
        #expect(server.requests.first?.target == "/base/xapi/about")
    }

    @Test("The client does not send invalid statements; put sends one under its identifier")
    func checks() async throws {
        let server = try TestServer { _ in [.respond("204 No Content")] }
        var broken = statement
        broken.verb.id = "none"
        let error = await #expect(throws: XAPIError.self) { try await client(server).store([broken]) }
        #expect(error?.code == .invalid)
        #expect(server.requests.isEmpty)
        try await client(server).put(statement)
        #expect(server.requests.first?.head.hasPrefix("PUT ") == true)
        #expect(
            server.requests.first?.target == "/base/xapi/statements?statementId=\(SampleID(log: 7, sequence: 1).wire)"
        )
    }

    @Test(
        "A response other than success gives an error with its kind, without secrets",
        arguments: [
            (401, XAPIError.Code.unauthorized), (409, .conflict), (412, .changedMeanwhile), (400, .refused),
            (503, .unavailable),
        ]
    )
    func errors(status: Int, code: XAPIError.Code) async throws {
        let server = try TestServer { _ in [.respond("\(status) No", Array("the-secret".utf8))] }
        let error = await #expect(throws: XAPIError.self) { try await client(server).store([statement]) }
        #expect(error?.code == code)
        #expect(error?.status == status)
        #expect(error.map { "\($0)".contains("the-secret") } == false)
    }
}
