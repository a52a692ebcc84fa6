import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite("The xAPI backend", .ownThread)
struct XAPIBackendTests {
    private let actions = [Action("Liked"), .start, .error]
    private var records: [SampleRecord] { Watching.records(actions.map { Watching.event($0, at: 1) }) }

    private func backend(_ lrs: LoopbackLRS, _ mapping: some XAPIMapping = Watching.all) throws -> XAPIBackend {
        XAPIBackend(try lrs.configuration(), mapping: mapping, transport: try SystemTransport())
    }

    @Test("A batch is one uncompressed request: an array, the version, credentials, the samples' identifiers and times")
    func request() async throws {
        let lrs = try LoopbackLRS()
        #expect(try await backend(lrs).deliver(Batch(records: records)) == .acknowledged)
        let request = try #require(lrs.server.requests.first)
        #expect(lrs.server.requests.count == 1)
        #expect(request.head.hasPrefix("POST /xapi/statements HTTP/1.1\r\n"))
        #expect(request.header("X-Experience-API-Version") == "1.0.3")
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("Content-Encoding") == nil)
        #expect(request.header("Authorization") == "Basic a2V5OnRoZS1zZWNyZXQ=")
        #expect(lrs.order == records.map(\.id.wire))
        for statement in lrs.stored.values {
            #expect(statement["timestamp"] == "2023-11-14T22:13:21.000Z")
            #expect(statement["object"]?["id"] == "https://example.org/films/1.mp4")
            #expect(StatementValidator().failures(in: statement) == [])
        }
        #expect(lrs.stored[records[0].id.wire]?["verb"]?["id"] == "urn:x-instrument:verbs/liked")
    }

    @Test("A batch with a lost response is repeated with the same bytes, and stored once")
    func lostAnswer() async throws {
        for isStrict in [false, true] {
            let lrs = try LoopbackLRS(isStrict: isStrict, faults: [.lostAnswer])
            let backend = try backend(lrs)
            guard case .retry = await backend.deliver(Batch(records: records)) else { throw Unexpected() }
            #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
            #expect(lrs.posts[0] == lrs.posts[1])
            #expect(lrs.order == records.map(\.id.wire))
        }
    }

    @Test("After 409 stored statements have arrived, missing ones are sent once more, and different ones are conflicts")
    func conflicts() async throws {
        let lrs = try LoopbackLRS(isStrict: true)
        let backend = try backend(lrs)
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        lrs.remove(records[2].id)
        lrs.change(records[0].id, "verb", to: ["id": "https://example.org/another"])
        let outcome = await backend.deliver(Batch(records: records))
        guard case .acknowledgedExcept(let refused) = outcome, refused.count == 1, let reason = refused[records[0].id]
        else {
            Issue.record("expected one conflict (found \(outcome))")
            return
        }
        // The LRS's own words come first.
        #expect(reason.hasPrefix("HTTP 409"))
        #expect(reason.hasSuffix(" (a different statement is stored as \(records[0].id))"))
        #expect(lrs.posts.count == 3)
        #expect(lrs.stored.count == 3)
    }

    @Test("A voided statement counts as arrived")
    func voided() async throws {
        let lrs = try LoopbackLRS(isStrict: true)
        let backend = try backend(lrs)
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        lrs.void(records[1].id)
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        #expect(lrs.posts.count == 2)
    }

    @Test("409 without a stored statement is a refusal, and a failed lookup gives a retry")
    func strangeConflicts() async throws {
        let lrs = try LoopbackLRS(faults: [.answer("409 Conflict")])
        let refused = try await backend(lrs).deliver(Batch(records: records))
        #expect(refused == .refused(reason: "HTTP 409 (the LRS has stored none of the statements)"))
        let wordy = try TestServer { request in
            [
                request.head.hasPrefix("POST")
                    ? .respond("409 Conflict", Array("the statement is locked".utf8)) : .respond("404 Not Found")
            ]
        }
        let said = await XAPIBackend(
            XAPIConfiguration(endpoint: try HTTPURL(wordy.url())),
            mapping: Watching.all,
            transport: try SystemTransport()
        ).deliver(Batch(records: records))
        let words = "HTTP 409: the statement is locked (the LRS has stored none of the statements)"
        #expect(said == .refused(reason: words))
        let server = try TestServer { request in
            [.respond(request.head.hasPrefix("POST") ? "409 Conflict" : "400 Bad Request")]
        }
        let configuration = XAPIConfiguration(endpoint: try HTTPURL(server.url()))
        let backend = XAPIBackend(configuration, mapping: Watching.all, transport: try SystemTransport())
        let outcome = await backend.deliver(Batch(records: records))
        #expect(outcome == .retry(after: nil, reason: "HTTP 400 to a lookup of a statement"))
    }

    @Test("One invalid statement among fifty is never sent, and its reason names the rules; the others arrive")
    func invalid() async throws {
        let lrs = try LoopbackLRS()
        let mapping = Broken(number: 20)
        let records = Watching.records((0..<50).map { Watching.event(Action("Liked"), at: Double($0)) })
        let outcome = try await backend(lrs, mapping).deliver(Batch(records: records))
        #expect(outcome == .acknowledgedExcept([records[20].id: "XAPI-00044 at $.verb.id"]))
        #expect(lrs.posts.count == 1)
        #expect(lrs.order == records.filter { $0.sequence != 20 }.map(\.id.wire))
    }

    @Test("Statements with a duplicate identifier or none give dead letters")
    func identifiers() async throws {
        let lrs = try LoopbackLRS()
        let outcome = try await backend(lrs, Twins()).deliver(Batch(records: records))
        guard case .acknowledgedExcept(let reasons) = outcome else { throw Unexpected() }
        #expect(reasons.count == 2)
        #expect(lrs.order.count == 1)
    }

    @Test("The queue isolates the statements that the LRS refuses, and delivers all others")
    func refused() async throws {
        let lrs = try LoopbackLRS(refusing: ["urn:x-instrument:verbs/disliked"])
        let backend = try backend(lrs)
        let queue = BatchQueue(backends: [backend])
        let actions = (0..<40).map { Action($0 == 27 ? "Disliked" : "Liked") }
        queue.append(actions.map { .event(Watching.event($0, at: 1)) })
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        #expect(lrs.order.count == 39)
        let letters = queue.deadLetters(of: "xapi")
        #expect(letters.map(\.reason) == ["HTTP 400: the verb is not allowed"])
        #expect(queue.ledger["xapi"]?.acknowledged == 39)
    }

    @Test("Samples without statements are not sent, and count as delivered")
    func silence() async throws {
        let lrs = try LoopbackLRS()
        let mapping = PlainMapping(viewings: Watching.viewings)
        let records = Watching.records([.ping, .bufferBegin, .trackerInit].map { Watching.event($0, at: 1) })
        #expect(try await backend(lrs, mapping).deliver(Batch(records: records)) == .acknowledged)
        #expect(lrs.server.requests.isEmpty)
    }

    @Test("Samples for another service are not sent, and count as delivered")
    func service() async throws {
        let lrs = try LoopbackLRS()
        let queue = BatchQueue(backends: [try backend(lrs)])
        queue.append([.event(Watching.event(Action("Liked"), at: 1))], for: "sift")
        queue.append([.event(Watching.event(Action("Liked"), at: 2))], for: "xapi")
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        #expect(lrs.order.count == 1)
        #expect(queue.ledger["xapi"]?.acknowledged == 2)
    }

    @Test("A large batch that is already stored is looked up in parts, and counts as delivered")
    func largeConflict() async throws {
        let lrs = try LoopbackLRS(isStrict: true)
        let records = Watching.records((0..<50).map { Watching.event(Action("Liked"), at: Double($0)) })
        let backend = try backend(lrs)
        for _ in 0..<2 { #expect(await backend.deliver(Batch(records: records)) == .acknowledged) }
        lrs.remove(records[17].id)
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        #expect(lrs.order.last == records[17].id.wire)
        #expect(lrs.stored.count == 50)
    }

    @Test(
        "Each response status has its usual outcome",
        arguments: [
            ("503 Busy", DeliveryOutcome.retry(after: nil, reason: "HTTP 503")),
            ("401 Who", .unauthorized(reason: "HTTP 401")), ("413 Large", .tooLarge(reason: "HTTP 413")),
            ("422 No", .refused(reason: "HTTP 422")), ("410 Gone", .gone(reason: "HTTP 410")),
            ("204 No Content", .acknowledged),
        ]
    )
    func answers(status: String, expected: DeliveryOutcome) async throws {
        let lrs = try LoopbackLRS(faults: [.answer(status)])
        #expect(try await backend(lrs).deliver(Batch(records: records)) == expected)
    }

    @Test("Descriptions and reasons show no secret")
    func secrets() async throws {
        let configuration = XAPIConfiguration(
            endpoint: try HTTPURL("http://user:the-secret@127.0.0.1:\(TestServer.closedPort())/xapi?the-secret"),
            credentials: .bearer("the-secret")
        )
        let backend = XAPIBackend(configuration, mapping: Watching.all, transport: try SystemTransport())
        let outcome = await backend.deliver(Batch(records: records))
        var dumped = ""
        dump(backend, to: &dumped)
        dump(configuration, to: &dumped)
        #expect(
            !"\(configuration) \(configuration.credentials.debugDescription) \(outcome) \(dumped)".contains(
                "the-secret"
            )
        )
        #expect(!dumped.contains("Bearer"))
    }

    @Test("The backend keeps the contract")
    func contract() async throws {
        let lrs = try LoopbackLRS()
        try await BackendContract.check {
            try self.backend(lrs)
        } arrived: {
            lrs.order.compactMap { SampleID($0) }
        }
    }
}

struct Unexpected: Error {}

/// Gives one statement a verb that is no IRI.
private struct Broken: XAPIMapping {
    let number: UInt64
    func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        var statements = Watching.all.statements(for: record, remembering: &memory)
        if record.sequence == number { statements[0].verb.id = "no IRI" }
        return statements
    }
}

/// Takes one identifier for all.
private struct Twins: XAPIMapping {
    func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        var statements = Watching.all.statements(for: record, remembering: &memory)
        statements[0].id = record.sequence == 2 ? nil : SampleID(log: 1, sequence: 1)
        return statements
    }
}
