import Instrument
import InstrumentJSON
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentXAPI

@Suite("Judge of statements")
struct StatementJudgeTests {
    /// A statement of the video profile, as the backend writes it.
    private static let video = """
        {"actor":{"account":{"homePage":"https://example.org","name":"viewer"},"objectType":"Agent"},"context":\
        {"contextActivities":{"category":[{"id":"https://w3id.org/xapi/video","objectType":"Activity"}]},"extensions":\
        {"https://w3id.org/xapi/video/extensions/length":5400.25},"registration":"10F34527-0B30-422D-A4E6-100000000007"},\
        "id":"49BB59F8-0B30-422D-A4E6-100000000007","object":{"definition":{"name":{"en":"A film \\"x\\" é"},"type":\
        "https://w3id.org/xapi/video/activity-type/video"},"id":"https://media.example.org/films/1","objectType":\
        "Activity"},"result":{"extensions":{"https://w3id.org/a":"0[.]12.5","https://w3id.org/b":[1,{"x":null}]},\
        "success":true,"duration":"PT1H"},"timestamp":"2026-11-23T21:16:36.120Z","verb":{"display":{"en":"paused"},"id":\
        "https://w3id.org/xapi/video/verbs/paused"},"version":"1.0.3"}
        """

    @Test("The judge accepts statements of the video profile, and tells their ids", arguments: XAPIVersion.allCases)
    func accepts(version: XAPIVersion) {
        let accepted = StatementJudge.accept(Array(Self.video.utf8), version: version)
        #expect(accepted?.id == "49BB59F8-0B30-422D-A4E6-100000000007")
        let spaced = " \n" + Self.video.replacing(",", with: " ,\t").replacing(":{", with: " : { ") + "\r\n"
        #expect(StatementJudge.accept(Array(spaced.utf8), version: version) != nil)
        #expect(StatementValidator(version: version).findings(inJSON: Array(Self.video.utf8)) == [])
    }

    @Test(
        "The judge doubts a statement with a defect",
        arguments: [
            ("\"success\":true", "\"success\":null"), ("\"success\":true", "\"success\":1"),
            ("\"success\":true", "\"success\":true,\"success\":true"), ("\"success\"", "\"Success\""),
            ("\"name\":\"viewer\"", "\"name\":\"\""), ("PT1H", "PT1"), ("2026-11-23", "2026-02-29"), ("21:16", "24:16"),
            ("\"en\":\"paused\"", ""), ("{\"en\":\"paused\"}", "null"), ("verbs/paused", "verbs /paused"),
            ("https://w3id.org/xapi/video/verbs/paused", "http://adlnet.gov/expapi/verbs/voided"),
            ("https://w3id.org/b", "https://w3id.org/a"), ("https://w3id.org/b", "w3id.org/b"), ("1.0.3", "2.0"),
            ("\"objectType\":\"Agent\"", "\"objectType\":\"agent\""), ("5400.25", "05400.25"), ("5400.25", "5400."),
            ("10F34527-0B30", "10F345270-B30"), ("}]}", "}}"), ("\"1.0.3\"}", "\"1.0.3\",}"), ("film", "fi\u{1}lm"),
            ("\"account\":", "\"mbox\":\"mailto:a@example.org\",\"account\":"),
        ]
    )
    func doubts(part: String, defect: String) throws {
        let text = Self.video.replacing(part, with: defect, maxReplacements: 1)
        try #require(text != Self.video)
        #expect(StatementJudge.accept(Array(text.utf8), version: .v1) == nil)
    }

    @Test(
        "What the judge accepts has no findings",
        arguments: XAPIVersion.allCases,
        Rounds.seeds(4)
    )
    func acceptedHaveNoFindings(version: XAPIVersion, seed: UInt64) {
        var random = RandomStatements(generator: SeededGenerator(seed: seed), version: version)
        var generator = SeededGenerator(seed: seed &+ 100)
        let validator = StatementValidator(version: version)
        var acceptedCount = 0
        for round in 0..<2_000 {
            var bytes = round.isMultiple(of: 2) ? Array(Self.video.utf8) : random.next().json.bytes
            for _ in 0..<Int.random(in: 0...3, using: &generator) { Self.damage(&bytes, &generator) }
            guard StatementJudge.accept(bytes, version: version) != nil else { continue }
            acceptedCount += 1
            let findings = validator.completeFindings(inJSON: bytes)
            #expect(findings == [], "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(acceptedCount > 150)
    }

    /// Parts that break a rule, or only look as if they did.
    private static let parts = [
        "null", "{}", "[]", "\"\"", "0", "-1.5", "1e400", "true", "\"Agent\"", "\"Group\"", "\"a\":1,", "\"id\":",
        "\\u0041",
        "\\n", "\u{E9}", "\u{1F600}", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "P1W2D", "en-GB", "x-a",
        "https://", ":",
        "#", "%4", " ", "\u{7F}", "{\"a\":{\"a\":1,\"a\":2}}", "mailto:a@b", "urn:a", "1.0",
        "\"extensions\":{\"urn:a\":1},",
    ].map { Array($0.utf8) }

    private static func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: bytes.indices, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...4, using: &generator)))
        case 3: bytes.insert(contentsOf: parts[Int.random(in: parts.indices, using: &generator)], at: place)
        default:
            // Replaces a whole value, so that the text around it stays correct.
            guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")),
                let end = bytes[(colon + 1)...].firstIndex(where: { ",}".utf8.contains($0) })
            else { return }
            bytes.replaceSubrange((colon + 1)..<end, with: parts[Int.random(in: parts.indices, using: &generator)])
        }
    }

    @Test("A time of the common form is valid in both versions", arguments: 1...4)
    func times(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parts = Array("0123456789-:.TZz+ ,".utf8)
        var commonCount = 0
        for _ in 0..<5_000 {
            var bytes = Array(
                ["2026-01-31T09:15:00.250Z", "2026-02-28T23:59:59Z"].randomElement(using: &generator)?.utf8 ?? "".utf8
            )
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let place = Int.random(in: bytes.indices, using: &generator)
                bytes[place] = parts[Int.random(in: parts.indices, using: &generator)]
            }
            guard bytes.withUnsafeBufferPointer({ TimestampFormat.isCommon($0) }) else { continue }
            commonCount += 1
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(
                TimestampFormat.isValid(text, version: .v1) && TimestampFormat.isValid(text, version: .v2),
                "\(text)"
            )
        }
        #expect(commonCount > 500)
    }
}
