import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import InstrumentXAPI
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

    @Test("Samples go as Tin Can statements that keep Seer's rules, in batches within the limit")
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

    @Test("What a failed batch has delivered does not go again")
    func partly() async throws {
        let service = try SeerService()
        let backend = try backend(service) { $0.setMaxBatchBytes(1024) }
        service.answer("200 OK", "503 Busy")
        let batch = Batch(records: records(0..<10))
        #expect(await backend.deliver(batch) == .retry(after: nil, reason: "HTTP 503"))
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(service.arrived == (0..<10).map { "urn:x-instrument:sources/film-\($0)" })
    }

    @Test("It keeps the backends' contract")
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
