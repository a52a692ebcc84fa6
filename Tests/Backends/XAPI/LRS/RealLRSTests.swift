import Foundation
import Instrument
import InstrumentBackends
import InstrumentJSON
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite(
    "xAPI backend with a real LRS",
    .ownThread,
    .serialized,
    .enabled(if: RealLRS.isInstalled, "SKIPPED: there is no LRS to test with; scripts/install-lrs.sh installs one")
)
struct RealLRSTests {
    private func records(_ count: Int) -> [SampleRecord] {
        Watching.records((0..<count).map { Watching.event(Action("Liked"), at: Double($0)) })
    }

    private func backend(
        _ lrs: RealLRS,
        _ mapping: some XAPIMapping = Watching.all,
        _ transport: (any HTTPTransport)? = nil
    ) throws -> XAPIBackend {
        XAPIBackend(lrs.configuration, mapping: mapping, transport: try transport ?? SystemTransport())
    }

    private func stored(_ client: XAPIClient, _ query: StatementQuery = StatementQuery()) async throws -> [JSONValue] {
        var (page, all): (StatementPage?, [JSONValue]) = (try await client.statements(query), [])
        while let some = page {
            all += some.json
            page = try await client.statements(after: some)
        }
        return all
    }

    @Test("A batch is stored and read back unchanged, page by page")
    func roundTrip() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        let records = records(25)
        #expect(try await backend(lrs).deliver(Batch(records: records)) == .acknowledged)
        let stored = try await stored(client, StatementQuery(limit: 10))
        #expect(Set(stored.compactMap { $0["id"]?.id }) == Set(records.map(\.id)))
        for statement in stored {
            let record = try #require(records.first { $0.id == statement["id"]?.id })
            var memory = JSONValue.null
            let sent = try #require(Watching.all.statements(for: record, remembering: &memory).first)
            #expect(StatementComparison.isSame(sent.json, statement, version: .v1))
        }
        #expect(try await client.statement(records[3].id)?["id"]?.id == records[3].id)
        #expect(try await client.statement(SampleID(log: 1, sequence: 1)) == nil)
        // Its filters for verbs and activities never find a statement.
        let registration = SampleID("EC531277-B57B-4C15-8D91-D292C5B2B8F7")
        #expect(try await self.stored(client, StatementQuery(registration: registration)).count == 25)
        #expect(try await self.stored(client, StatementQuery(registration: SampleID(log: 1, sequence: 1))).isEmpty)
    }

    @Test("After a lost response the same bytes are sent again, and each statement is stored once")
    func lostAnswer() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        let transport = LosingTransport(try SystemTransport(), losses: 1)
        let backend = try backend(lrs, Watching.all, transport)
        let batch = Batch(records: records(20))
        guard case .retry = await backend.deliver(batch) else { throw Unexpected() }
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(transport.bodies.count == 2)
        #expect(transport.bodies.first == transport.bodies.last)
        #expect(try await stored(client).count == 20)
    }

    @Test("A stored statement is not stored twice, and a batch of old and new ones adds the new ones")
    func duplicates() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        let backend = try backend(lrs)
        #expect(await backend.deliver(Batch(records: records(10))) == .acknowledged)
        #expect(await backend.deliver(Batch(records: records(10))) == .acknowledged)
        #expect(await backend.deliver(Batch(records: records(15))) == .acknowledged)
        #expect(try await stored(client).count == 15)
        var other = Watching.event(Action("Disliked"), at: 3)
        other[.title] = "Another film"
        let outcome = await backend.deliver(Batch(records: [Watching.record(3, other)]))
        guard case .acknowledgedExcept(let reasons) = outcome else { throw Unexpected() }
        #expect(reasons.keys.first == records(4)[3].id)
        #expect(reasons.values.first?.contains("409") == true)
    }

    @Test("The queue isolates one refused statement in fifty; the others arrive")
    func oneRefused() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        let transport = Spoiling(transport: try SystemTransport(), mark: "Spoilt")
        let queue = BatchQueue(backends: [try backend(lrs, Watching.all, transport)])
        queue.append((0..<50).map { .event(Watching.event(Action($0 == 31 ? "Spoilt" : "Liked"), at: Double($0))) })
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        #expect(queue.ledger["xapi"]?.acknowledged == 49)
        let reasons = queue.deadLetters(of: "xapi").map(\.reason)
        #expect(reasons.count == 1)
        #expect(reasons.allSatisfy { $0.hasPrefix("HTTP 422: ") && $0.utf8.count > 20 }, "\(reasons)")
        #expect(try await stored(client).count == 49)
    }

    @Test("A played sample is a session of the video profile, stored by the LRS and valid to its own models")
    func playedSample() async throws {
        let golden =
            packageRoot.path + "/Tests/Tools/PlayerMonitor/Golden/three-renditions.ndjson"
        var reader = try SampleFileReader(path: golden)
        var records: [SampleRecord] = []
        while let record = try reader.next() { records.append(record) }
        let lrs = try RealLRS()
        let client = try lrs.client()
        let viewings = Viewings(viewer: Watching.viewer, registration: SampleID(log: 3, sequence: 3))
        let backend = try backend(lrs, VideoMapping(viewings: viewings))
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        let stored = try await stored(client)
        let verbs = Set(stored.compactMap { $0["verb"]?["id"]?.string?.split(separator: "/").last.map(String.init) })
        #expect(verbs == ["initialized", "played", "interacted", "completed", "paused", "terminated"])
        #expect(stored.allSatisfy { StatementValidator().failures(in: $0).isEmpty })
        // Of the viewer's settings, its models have only volume and screen, not the quality.
        let known = stored.filter { $0["verb"]?["id"]?.string != VideoVocabulary.interacted.id.description }
        let complaints = try RealLRS.complaints(about: known.map(\.bytes))
        #expect(known.count < stored.count)
        #expect(complaints == "")
        #expect(try RealLRS.complaints(about: [Array("{\"actor\":1}".utf8)]) != "")
    }

    @Test("A wrong endpoint loses nothing: samples wait, and the right one gets the whole session")
    func wrongEndpoint() async throws {
        let lrs = try RealLRS()
        let directory = StateDirectory()
        let mapping = VideoMapping(viewings: Watching.viewings)
        func backend(_ suffix: String) throws -> XAPIBackend {
            var configuration = lrs.configuration
            configuration.endpoint = try HTTPURL(configuration.endpoint.secretText + suffix)
            let transport = try SystemTransport()
            return XAPIBackend(configuration, mapping: mapping, transport: transport, memory: directory.store)
        }
        let batch = Batch(records: Watching.records(Watching.session))
        let outcome = try await backend("/typo").deliver(batch)
        guard case .retry(_, let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("HTTP 404: ") && reason.contains("Not Found"), "\(reason)")
        #expect(try await backend("").deliver(batch) == .acknowledged)
        let stored = try await stored(lrs.client())
        #expect(stored.count == 16)
        let session = VideoVocabulary.extension("session-id").description
        let sessions = Set(stored.compactMap { $0["context"]?["extensions"]?[session]?.string })
        let opened = stored.filter { $0["verb"]?["id"]?.string == VideoVocabulary.initialized.id.description }
        #expect(Set(opened.compactMap { $0["id"]?.string }) == sessions)
        #expect(sessions.count == 3)
    }

    @Test("A wrong password is distinguished from a refusal")
    func unauthorized() async throws {
        let lrs = try RealLRS()
        var configuration = lrs.configuration
        configuration.credentials = .basic(user: "key", password: "wrong")
        let backend = XAPIBackend(configuration, mapping: Watching.all, transport: try SystemTransport())
        guard case .unauthorized(let reason) = await backend.deliver(Batch(records: records(1))) else {
            throw Unexpected()
        }
        #expect(reason.hasPrefix("HTTP 401"))
        #expect(!reason.contains("wrong"))
    }
}

/// Alters marked statements in transit, like a fault that this library's validator does not detect.
private struct Spoiling: HTTPTransport {
    let transport: any HTTPTransport
    let mark: String

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var request = request
        let text = String(decoding: request.body, as: UTF8.self)
        let verb = "\"id\":\"urn:x-instrument:verbs/\(mark.lowercased())"
        let spoilt = text.replacingOccurrences(of: verb, with: verb.replacingOccurrences(of: "id", with: "uid"))
        request.body = Array(spoilt.utf8)
        return try await transport.send(request)
    }
}
