import Foundation
import Instrument
import InstrumentJSON
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentXAPI

/// The functions of the client that this LRS supports (Ralph 5.1.0 has `statements` alone: no `about`, no
/// `activities/state`, and it takes no `multipart/mixed`). `XAPIClientTests` tests these against a test server.
@Suite(
    "xAPI client with a real LRS",
    .ownThread,
    .serialized,
    .enabled(if: RealLRS.isInstalled, "SKIPPED: there is no LRS to test with; scripts/install-lrs.sh installs one")
)
struct RealLRSClientTests {
    private func statement(_ number: UInt64) -> Statement {
        var statement = Statement(
            id: SampleID(log: 9, sequence: number),
            actor: Watching.viewer,
            verb: Statement.Verb("https://example.org/verbs/saw"),
            object: .activity(Statement.Activity("https://example.org/films/1"))
        )
        statement.timestamp = WallTime(milliseconds: 1_700_000_000_000)
        return statement
    }

    @Test("A statement is put twice and read back; a voiding one is stored as well")
    func voiding() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        let saw = statement(1)
        try await client.put(saw)
        try await client.put(saw)
        let id = try #require(saw.id)
        #expect(try await client.statement(id)?["verb"]?["id"] == "https://example.org/verbs/saw")
        let voiding = SampleID(log: 9, sequence: 2)
        try await client.void(id, by: Watching.viewer, as: voiding, at: WallTime(milliseconds: 1_700_000_001_000))
        let stored = try #require(try await client.statement(voiding))
        #expect(stored["object"]?["id"]?.id == id)
        #expect(StatementValidator().failures(in: stored) == [])
        // This LRS only stores the voiding statement, and still returns the voided one.
        #expect(try await client.statement(id) != nil)
    }

    @Test("Unsupported requests give errors with the LRS's status")
    func absent() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        await #expect(throws: XAPIError(.refused, status: 404, "the LRS answered 404 to 'about'")) {
            _ = try await client.about()
        }
        // An LRS without states answers as one that has not this one.
        let key = StateKey(
            activity: "https://example.org/films/1",
            agent: Statement.Agent(.mailbox("mailto:a@example.org"))
        )
        #expect(try await client.state(key) == nil)
        let document = StateDocument(content: Array("{}".utf8), contentType: "application/json")
        let error = await #expect(throws: XAPIError.self) { try await client.put(document, as: key, if: .absent) }
        #expect(error?.status == 404)
    }

    @Test("A statement with attachment contents is refused by this LRS, and nothing is stored")
    func attachments() async throws {
        let lrs = try RealLRS()
        let client = try lrs.client()
        let data = AttachmentContent(Array("proof".utf8), contentType: "text/plain")
        var statement = statement(3)
        statement.attachments = [
            data.attachment(usageType: "https://example.org/usage/proof", display: ["en": "Proof"])
        ]
        let error = await #expect(throws: XAPIError.self) {
            try await client.store([statement], attachments: [data])
        }
        #expect(error?.status.map { $0 >= 400 } == true)
        let id = try #require(statement.id)
        #expect(try await client.statement(id) == nil)
        // Without the data beside it, the statement that describes them is taken.
        try await client.store([statement])
        #expect(try await client.statement(id)?["attachments"] != nil)
    }
}
