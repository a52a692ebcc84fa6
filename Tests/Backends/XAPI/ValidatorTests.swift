import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentXAPI

@Suite("Statement validator")
struct ValidatorTests {
    @Test("All failures are listed, not only the first, and in the same order each time")
    func lists() {
        let statement: JSONValue = [
            "actor": ["mbox": "viewer"], "verb": ["display": ["en": 1]],
            "object": ["id": "film", "definition": ["type": "x"]],
            "result": ["score": ["scaled": 2]], "zone": 1, "area": 2,
        ]
        let found = StatementValidator().failures(in: statement).map { "\($0.rule) \($0.path)" }
        #expect(
            found == [
                "XAPI-00010 $.area", "XAPI-00010 $.zone", "XAPI-00038 $.actor.mbox", "XAPI-00044 $.verb.id",
                "XAPI-00045 $.verb.display.en", "XAPI-00047 $.object.id", "XAPI-00060 $.object.definition.type",
                "XAPI-00083 $.result.score.scaled",
            ]
        )
        for _ in 0..<20 {
            #expect(StatementValidator().failures(in: statement).map { "\($0.rule) \($0.path)" } == found)
        }
    }

    @Test("Duplicate keys are found in the text, except inside the values of extensions")
    func duplicates() {
        let text = #"""
            {"actor":{"mbox":"mailto:a@example.org","mbox":"mailto:b@example.org"},
            "verb":{"id":"https://example.org/saw","\u0069d":"https://example.org/saw"},"object":{"id":"urn:a"},
            "context":{"extensions":{"urn:e":{"a":1,"a":[{"b":1,"b":2}]},"urn:e":"\"}"}}, "attachments": [ ] }
            """#
        let found = StatementValidator().failures(inJSON: Array(text.utf8)).map { "\($0.rule) \($0.path)" }
        #expect(
            found == [
                "XAPI-00021 $.actor.mbox", "XAPI-00021 $.verb.id", "XAPI-00021 $.context.extensions['urn:e']",
            ]
        )
    }

    @Test("The validator names rule, place, finding and remedy when a text is not JSON", arguments: NotJSON.cases)
    func notJSON(text: NotJSON) {
        let findings = StatementValidator().findings(inJSON: text.bytes)
        #expect(findings.map { "\($0.rule) \($0.path) \($0.message)" } == ["\(text.rule) $ \(text.message)"])
        #expect(StatementValidator().failures(inJSON: text.bytes) == findings)
    }

    @Test("A statement with only warnings is valid, can be read, and is written without its empty parts")
    func warnings() throws {
        let statement = Example.least.setting("result", to: [:]).setting("context", "contextActivities", to: [:])
            .setting("verb", "display", to: [:])
        let findings = StatementValidator().findings(in: statement)
        #expect(findings.map(\.path) == ["$.verb.display", "$.result", "$.context.contextActivities"])
        #expect(findings.allSatisfy { $0.severity == .warning && $0.description.hasPrefix("warning: XAPI-") })
        #expect(StatementValidator().isValid(statement) && StatementValidator().failures(in: statement).isEmpty)
        #expect(try StatementValidator().findings(in: Statement(json: statement).json).isEmpty)
    }

    @Test("A message has the expected and the found value")
    func messages() {
        let statement = Example.least.setting("result", "score", to: ["scaled": 7])
            .setting("actor", to: ["mbox": "viewer"]).setting("object", "id", to: .array([1]))
            .setting("timestamp", to: .string(String(repeating: "x", count: 10_000)))
        let messages = StatementValidator().failures(in: statement).map(\.message)
        #expect(messages.contains("`scaled` must be between -1 and 1 (found 7)."))
        #expect(messages.contains("`mbox` must be `mailto:` followed by an e-mail address (found \"viewer\")."))
        #expect(messages.contains("`id` must be a string (found an array of 1 element)."))
        #expect(messages.allSatisfy { $0.utf8.count < 300 })
    }

    @Test("The validator lists a thousand findings and counts the others")
    func manyFindings() {
        let unknown = Dictionary(uniqueKeysWithValues: (0..<1_500).map { ("key\($0)", JSONValue.int($0)) })
        guard case .object(let members) = Example.least else { return }
        let findings = StatementValidator().findings(in: .object(members.merging(unknown) { first, _ in first }))
        #expect(findings.count == 1_001)
        #expect(findings.last?.message == "500 more findings are not listed; the listed ones must be corrected first.")
    }

    @Test("The validator ends and finds the same failures twice for any mutated statement")
    func mutations() {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<600 {
            var statement = round.isMultiple(of: 2) ? Example.most : Example.with("object", value: Example.subStatement)
            for _ in 0..<Int.random(in: 1...3, using: &generator) { statement = mutated(statement, &generator) }
            let isSane = XAPIVersion.allCases.allSatisfy { version in
                let validator = StatementValidator(version: version)
                let failures = validator.failures(in: statement)
                return validator.failures(inJSON: statement.bytes) == failures
                    && failures.allSatisfy { $0.path.hasPrefix("$") && !$0.path.contains("\t") && !$0.message.isEmpty }
            }
            if !isSane { Issue.record("\(statement)") }
        }
    }

    @Test("A mutated statement can be read exactly when it is valid, and is written validly")
    func agreement() {
        var generator = SeededGenerator(seed: 13)
        var count = 0
        for _ in 0..<600 {
            let statement = mutated(Example.most, &generator)
            for version in XAPIVersion.allCases {
                let isValid = StatementValidator(version: version).isValid(statement)
                let read = try? Statement(json: statement, version: version)
                if isValid != (read != nil) { Issue.record("\(statement)") }
                if let read, !read.failures(version: version).isEmpty { Issue.record("\(statement)") }
                count += isValid ? 1 : 0
            }
        }
        #expect(count > 40)
    }

    @Test("The validator never traps on randomly changed bytes")
    func bytes() {
        var generator = SeededGenerator(seed: 11)
        let bytes = Example.most.bytes
        for _ in 0..<1_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: changed.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: changed[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: changed.remove(at: index)
                default: changed.insert(contentsOf: changed[..<index].suffix(9), at: index)
                }
            }
            _ = StatementValidator(version: .v2).failures(inJSON: changed)
        }
    }

    /// Another value, key or element somewhere.
    private func mutated(_ value: JSONValue, _ generator: inout SeededGenerator) -> JSONValue {
        let values: [JSONValue] = [
            nil, true, 0, -1, 1e300, "", "a", "é\u{1F600}", "P", "2015", "http://", "mailto:@", [], [:], [[]],
            ["": nil],
        ]
        let replacement = values.randomElement(using: &generator) ?? .null
        if Int.random(in: 0..<6, using: &generator) == 0 { return replacement }
        switch value {
        case .object(var members):
            let key = members.keys.sorted().randomElement(using: &generator) ?? "id"
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: members[key] = nil
            case 1: members[key.uppercased()] = replacement
            case 2:
                members[["id", "objectType", "member", "\t", "extensions"].randomElement(using: &generator) ?? ""] =
                    replacement
            default: members[key] = mutated(members[key] ?? .null, &generator)
            }
            return .object(members)
        case .array(var elements):
            guard let index = elements.indices.randomElement(using: &generator) else { return replacement }
            if Bool.random(using: &generator) { elements.append(elements[index]) }
            elements[index] = mutated(elements[index], &generator)
            return .array(elements)
        default: return replacement
        }
    }
}

/// A text that is not a JSON value, and the validator's finding.
struct NotJSON: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var rule: String
    var message: String

    var testDescription: String { name }

    private init(_ name: String, _ bytes: [UInt8], _ rule: String, _ message: String) {
        (self.name, self.bytes, self.rule) = (name, bytes, rule)
        self.message = "The text must be valid JSON; at " + message
    }

    static let cases = [
        NotJSON(
            "cut off",
            Array(#"{"actor":"#.utf8),
            "XAPI-00014",
            "byte 9: expected a value (found the end of the text)."
        ),
        NotJSON("empty", [], "XAPI-00014", "byte 0: expected a value (found the end of the text)."),
        NotJSON("a comma too many", Array("[1,]".utf8), "XAPI-00014", "byte 3: expected a value (found `]`)."),
        NotJSON(
            "on a later line",
            Array("{\n \"a\": 1\n 2}".utf8),
            "XAPI-00014",
            "byte 11 (line 3, column 2): expected `,` or `}` (found `2`)."
        ),
        NotJSON(
            "a byte order mark",
            [0xEF, 0xBB, 0xBF] + Array("{}".utf8),
            "json-byte-order-mark",
            "byte 0: a byte order mark (EF BB BF) stands before the value; remove it."
        ),
        NotJSON(
            "Latin-1 in a string",
            Array(#"{"é":"a"#.utf8) + [0xE9] + Array(#""}"#.utf8),
            "json-utf-8",
            "byte 8: the byte 0xE9 is not part of a character in UTF-8; encode the text in UTF-8."
        ),
        NotJSON(
            "UTF-16",
            [0xFF, 0xFE, 0x7B, 0x00],
            "json-utf-8",
            "byte 0: the byte 0xFF is not part of a character in UTF-8; encode the text in UTF-8."
        ),
        NotJSON(
            "nested too deep",
            [UInt8](repeating: UInt8(ascii: "["), count: 500),
            "json-nesting",
            "byte 129: arrays and objects are nested more than 128 deep; nest them less."
        ),
        NotJSON(
            "a number out of range",
            Array(#"{"a":1e400}"#.utf8),
            "json-number-range",
            "byte 5: the number 1e400 is beyond the range of 64-bit floating-point numbers; its magnitude must be below 1.8e308."
        ),
    ]
}
