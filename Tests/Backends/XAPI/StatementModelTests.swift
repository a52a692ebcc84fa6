import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentXAPI

@Suite("Statement model")
struct StatementModelTests {
    @Test(
        "A written statement is valid, is read back equal, and is written with the same bytes again",
        arguments: XAPIVersion.allCases
    )
    func roundTrip(version: XAPIVersion) throws {
        var random = RandomStatements(generator: SeededGenerator(seed: 5), version: version)
        for _ in 0..<400 {
            let statement = random.next()
            let json = statement.json
            #expect(StatementValidator(version: version).failures(inJSON: json.bytes) == [])
            let read = try Statement(json: JSONValue(parsing: json.bytes), version: version)
            #expect(read == statement)
            #expect(read.json.bytes == json.bytes)
        }
    }

    @Test("A statement with all parts keeps them when it is read")
    func everything() throws {
        let statement = try Statement(json: Example.most)
        #expect(statement.id?.description == "12345678-1234-5678-1234-567812345678")
        #expect(statement.timestamp == WallTime(milliseconds: 1_368_847_954_804))
        #expect(statement.context?.activities.parent.count == 1)
        #expect(statement.context?.activities.category.count == 2)
        #expect(statement.result?.duration?.description == "PT4H35M59.14S")
        #expect(statement.result?.score == Statement.Score(scaled: -0.5, raw: 3, min: 0, max: 10.5))
        #expect(statement.attachments.first?.length == 27)
        #expect(statement.failures() == [])
        #expect(try Statement(json: statement.json) == statement)
    }

    @Test("The wire form has no empty parts and is sorted by name")
    func wireForm() {
        let statement = Statement(
            id: SampleID("e05aa883-acaf-40ad-bf54-02c8ce485fb0"),
            actor: .agent(Statement.Agent(.account(homePage: "https://example.org", name: "4711"))),
            verb: Statement.Verb("http://adlnet.gov/expapi/verbs/experienced"),
            object: .activity(Statement.Activity("https://example.org/films/1")),
            result: Statement.Result(score: Statement.Score(raw: 5)),
            context: Statement.Context(),
            timestamp: WallTime(milliseconds: 1_700_000_000_120)
        )
        #expect(
            statement.json.description == """
                {"actor":{"account":{"homePage":"https://example.org","name":"4711"},"objectType":"Agent"},\
                "id":"e05aa883-acaf-40ad-bf54-02c8ce485fb0",\
                "object":{"id":"https://example.org/films/1","objectType":"Activity"},"result":{"score":{"raw":5}},\
                "timestamp":"2023-11-14T22:13:20.120Z","verb":{"id":"http://adlnet.gov/expapi/verbs/experienced"}}
                """
        )
    }

    @Test("A voiding statement refers to the voided one")
    func voiding() throws {
        let id = try #require(SampleID("E05AA883-ACAF-40AD-BF54-02C8CE485FB0"))
        let statement = Statement.voiding(id, by: .agent(Statement.Agent(.mailbox("mailto:a@example.org"))))
        #expect(statement.failures(version: .v1) == [])
        #expect(statement.object == .statementRef(id))
    }

    @Test("An invalid statement is not read, and the error lists all failures")
    func refused() {
        let error = #expect(throws: StatementError.self) {
            try Statement(json: ["actor": ["mbox": "viewer"], "verb": Example.verb])
        }
        #expect(error?.failures.map(\.rule.description) == ["XAPI-00005", "XAPI-00038"])
        #expect(throws: StatementError.self) {
            try Statement(json: Example.with("context", "contextAgents", value: []), version: .v1)
        }
    }

    @Test("The validator finds faults in a typed statement")
    func wrongModel() {
        var statement = Statement(
            actor: .group(Statement.Group(members: [])),
            verb: Statement.Verb("saw"),
            object: .activity(Statement.Activity("urn:film"))
        )
        statement.result = Statement.Result(score: Statement.Score(scaled: 2))
        #expect(statement.failures().map(\.rule.description) == ["XAPI-00037", "XAPI-00044", "XAPI-00083"])
    }

    @Test(
        "Durations are written in seconds, rounded to 0.01 s",
        arguments: [
            (.zero, "PT0S"), (.milliseconds(59_140), "PT59.14S"), (.milliseconds(59_996), "PT60S"),
            (.milliseconds(1_004), "PT1S"), (.milliseconds(1_005), "PT1.01S"), (.milliseconds(1_500), "PT1.5S"),
            (.seconds(-1), "PT0S"), (.milliseconds(2_050), "PT2.05S"),
        ] as [(Duration, String)]
    )
    func durations(duration: Duration, text: String) {
        #expect(ISODuration(duration).description == text)
        #expect(ISODuration(text) != nil)
    }

    @Test("IRIs from outside are checked")
    func iris() {
        #expect(IRI(checking: "https://example.org") == "https://example.org")
        #expect(IRI(checking: "example.org") == nil)
        #expect(ISODuration("soon") == nil)
    }
}
