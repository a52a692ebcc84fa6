import CostMeasurement
import InstrumentJSON
import Testing

@testable import InstrumentXAPI

@Suite("Cost of checking statements")
struct LinearTimeTests {
    private static func object(_ count: Int, _ member: (Int) -> String) -> String {
        "{" + (0..<count).map(member).joined(separator: ",") + "}"
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[" + (0..<count).map(element).joined(separator: ",") + "]"
    }

    private static func text(_ count: Int, _ text: String) -> String {
        "\"" + String(repeating: text, count: count) + "\""
    }

    static let shapes: [CostShape] = [
        CostShape(name: "unknown keys") { object($0) { "\"k\($0)\":1" }.dropFirst().dropLast().description },
        CostShape(name: "a key again and again") { object($0) { _ in "\"k\":1" }.dropFirst().dropLast().description },
        CostShape(name: "members behind a long key") { count in
            text(count * 10, "k") + ":" + object(count) { "\"\($0)\":{\"a\":1,\"a\":2}" }
        },
        CostShape(name: "elements behind keys inside one another") { count in
            String(repeating: text(count / 100, "k") + ":{", count: 100) + "\"a\":"
                + list(count) { "{\"b\":\($0),\"b\":1}" }
                + String(repeating: "}", count: 100)
        },
        CostShape(name: "languages") {
            "\"verb\":{\"id\":\"urn:a\",\"display\":" + object($0) { "\"a-\($0)\":\($0)" } + "}"
        },
        CostShape(name: "attachments") { "\"attachments\":" + list($0) { "{\"length\":\($0)}" } },
        CostShape(name: "members of a group") { count in
            "\"actor\":{\"objectType\":\"Group\",\"member\":" + list(count) { "{\"mbox\":\"mailto:\($0)\"}" } + "}"
        },
        CostShape(name: "components with the same id") { count in
            "\"object\":{\"id\":\"urn:a\",\"definition\":{\"interactionType\":\"choice\",\"choices\":"
                + list(count) { _ in "{\"id\":\"a\"}" } + "}}"
        },
        CostShape(name: "components whose ids are combining marks") { count in
            "\"object\":{\"id\":\"urn:a\",\"definition\":{\"interactionType\":\"choice\",\"choices\":[{\"id\":"
                + text(count, "\u{301}\u{316}") + "}]}}"
        },
        CostShape(name: "extensions") {
            "\"result\":{\"extensions\":" + object($0) { "\"k\($0)\":{\"a\":1,\"a\":2}" } + "}"
        },
        CostShape(name: "activities of a context") { count in
            "\"context\":{\"contextActivities\":{\"other\":" + list(count) { "{\"id\":\($0)}" } + "}}"
        },
        CostShape(name: "a version") { "\"version\":" + text($0, "1.0.") },
    ]

    @Test("Checking a statement costs time in proportion to its length", arguments: Self.shapes)
    func statements(shape: CostShape) {
        let growth = CostGrowth.measure(from: 100, making: { Array(("{" + shape.text($0) + "}").utf8) }) { bytes in
            _ = StatementValidator().findings(inJSON: bytes)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    static let formats: [(name: String, part: String, isValid: @Sendable (String) -> Bool)] = [
        ("language tag", "aa-", LanguageTagFormat.isValid),
        ("language tag's variants", "abcde-", LanguageTagFormat.isValid),
        ("private language tag", "x-a", LanguageTagFormat.isValid), ("IRI", "a:%41#", IRIFormat.isValid),
        ("IRI's user", "http://a@", IRIFormat.isValid), ("mailbox", "mailto:a.", MailboxFormat.isValid),
        ("mailbox's domain", "a@a.", MailboxFormat.isValid), ("media type", "a/b; c=d", MediaTypeFormat.isValid),
        ("media type's spaces", " ", MediaTypeFormat.isValid),
        ("media type's flags", "\u{1F1E6};", MediaTypeFormat.isValid),
        ("UUID", "0-", UUIDFormat.isValid), ("version", "1.0.0-a.", { VersionFormat.isValid($0, family: "1.0") }),
        ("duration", "P1Y", DurationFormat.isValid),
        ("duration's digits", "1", { DurationFormat.isValid("PT" + $0 + "S") }),
        ("time", "1", { TimestampFormat.isValid("2015-01-01T00:00:00." + $0 + "Z", version: .v1) }),
    ]

    @Test("Checking a format costs time in proportion to the length of the text", arguments: Self.formats.map(\.name))
    func formatCost(name: String) throws {
        let format = try #require(Self.formats.first { $0.name == name })
        let growth = CostGrowth.measure(from: 400, making: { String(repeating: format.part, count: $0) }) {
            _ = format.isValid($0)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test(
        "Reading a body of parts costs time in proportion to its length",
        arguments: ["-", "\r\n--", "\r\n--b\r\n\r\n"]
    )
    func parts(piece: String) {
        let growth = CostGrowth.measure(from: 250) { count in
            (
                Array(String(repeating: piece, count: count).utf8),
                "multipart/mixed; boundary=" + String(repeating: "-", count: count)
            )
        } _: { body, contentType in
            _ = MultipartParts(body, contentType: contentType)
            _ = MultipartParts(body, contentType: "multipart/mixed; boundary=b")
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
