import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import InstrumentXAPI
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentSeer

@Suite("The Seer backend", .ownThread)
struct SeerBackendTests {
    private static let viewer = Statement.Actor.agent(
        Statement.Agent(.account(homePage: "https://example.org", name: "4711"))
    )

    private func backend(
        _ service: SeerService,
        _ change: (inout SeerConfiguration) -> Void = { _ in }
    ) throws -> SeerBackend {
        let mapping = SeerMapping(appID: "app", viewings: Viewings(viewer: Self.viewer)) { _ in true }
        return SeerBackend(
            try service.configuration(change),
            credentials: Given.credentials,
            transport: try SystemTransport(),
            mapping: { mapping($0) }
        )
    }

    private func records(_ range: Range<Int>) -> [SampleRecord] {
        range.map { number in
            var event = Event(Action("Liked"), tracker: TrackerID(0), time: VirtualClock().timestamp)
            event[.source] = "film-\(number)"
            let sequence = UInt64(number)
            return SampleRecord(id: SampleID(log: 3, sequence: sequence), sequence: sequence, sample: .event(event))
        }
    }

    @Test("Samples for another service are not sent, and count as delivered")
    func otherService() async throws {
        let service = try SeerService()
        let queue = BatchQueue(backends: [try backend(service)])
        queue.append([records(0..<1)[0].sample], for: "sift")
        #expect(await queue.flush(timeout: .seconds(1800)))
        #expect(service.requests.isEmpty)
        queue.append([records(1..<2)[0].sample], for: "seer")
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        #expect(service.requests.count == 1)
        #expect(queue.ledger["seer"]?.acknowledged == 2)
    }

    @Test("The backend sends samples as valid Tin Can statements, in batches within the limit")
    func delivered() async throws {
        let service = try SeerService()
        #expect(
            try await backend(service) { $0.setMaxBatchBytes(1024) }.deliver(Batch(records: records(0..<10)))
                == .acknowledged
        )
        #expect(service.requests.count > 3)
        #expect(service.requests.allSatisfy { $0.body.count <= 1024 && $0.path == "/api/tincan/batch" })
        guard case .array(let statements) = try JSONValue(parsing: service.requests[0].body) else { return }
        #expect(SeerValidator().failures(inTinCan: statements[0]) == [])
        #expect(statements[0]["id"]?.string == records(0..<1)[0].id.description.lowercased())
        #expect(statements[0]["context"]?["extensions"]?["appId"] == "app")
    }

    @Test("Payloads that arrived in a failed batch are not sent again")
    func partly() async throws {
        let service = try SeerService()
        let backend = try backend(service) { $0.setMaxBatchBytes(1024) }
        service.answer("200 OK", "503 Busy")
        let batch = Batch(records: records(0..<10))
        #expect(await backend.deliver(batch) == .retry(after: nil, reason: "HTTP 503"))
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(service.arrived == (0..<10).map { "urn:x-instrument:sources/film-\($0)" })
    }

    @Test("After a 401 the batch is sent once more at once with a new token, for a token of any age")
    func renewed() async throws {
        let service = try SeerService()
        let backend = try backend(service)
        let batch = Batch(records: records(0..<2))
        service.answer("401 Unauthorized")
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(service.tokens == 2)
        #expect(service.requests.map(\.status) == ["401 Unauthorized", "200 OK"])
    }

    @Test("A service that refuses each new token is retried after the back-off, with one new token each time")
    func refusedTokens() async throws {
        let service = try SeerService()
        let backend = try backend(service)
        let batch = Batch(records: records(0..<2))
        for attempt in 1...3 {
            service.answer("401 Unauthorized", "401 Unauthorized")
            #expect(await backend.deliver(batch) == .retry(after: nil, reason: "HTTP 401"))
            #expect(service.tokens == attempt * 2)
        }
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(service.tokens == 7)
    }

    @Test("Refused credentials give a long back-off, and the reason has the service's message without the secret")
    func noToken() async throws {
        let server = try TestServer { _ in
            let text = #"{"error":"invalid_client","error_description":"the-secret is wrong (aWQ6dGhlLXNlY3JldA==)"}"#
            return [.respond("401 Unauthorized", Array(text.utf8))]
        }
        let backend = SeerBackend(
            SeerConfiguration(baseURL: try HTTPURL(server.url())),
            credentials: Given.credentials,
            transport: try SystemTransport(),
            mapping: { SeerMapping(appID: "app", viewings: Viewings(viewer: Self.viewer)) { _ in true }($0) }
        )
        let outcome = await backend.deliver(Batch(records: records(0..<1)))
        #expect(outcome == .unauthorized(reason: "HTTP 401: … is wrong (…): invalid_client"))
    }

    @Test("Payloads that arrived in a halved batch are not sent again, in any order of the halves")
    func halved() async throws {
        let service = try SeerService()
        let backend = SeerBackend(
            try service.configuration(),
            credentials: Given.credentials,
            transport: try SystemTransport(),
            mapping: { record in
                let id = "object-\(record.sequence)"
                return record.sequence % 2 == 0 ? Given.activity(id) : Given.tinCan(id)
            }
        )
        // The kinds go one after another: the second is refused.
        service.answer("200 OK", "400 Bad Request")
        let records = records(0..<4)
        guard case .refused = await backend.deliver(Batch(records: records)) else { throw CancellationError() }
        for half in [records[..<2], records[2...]] {
            #expect(await backend.deliver(Batch(records: Array(half))) == .acknowledged)
        }
        #expect(service.arrived.count == 4 && Set(service.arrived).count == 4)
    }

    @Test("The backend keeps the contract")
    func contract() async throws {
        let service = try SeerService()
        try await BackendContract.check {
            try self.backend(service)
        } arrived: {
            service.requests.filter { $0.status == "200 OK" }.flatMap { request in
                guard case .array(let statements)? = try? JSONValue(parsing: request.body) else { return [SampleID]() }
                return statements.compactMap { $0["id"]?.string.flatMap { SampleID($0) } }
            }
        }
    }
}
