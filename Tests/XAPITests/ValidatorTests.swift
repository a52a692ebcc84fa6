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

    @Test("A key that stands twice is found in the text, but not inside an extension's value")
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

    @Test("What is no JSON is one failure")
    func noJSON() {
        let failures = StatementValidator().failures(inJSON: Array("{\"actor\":".utf8))
        #expect(failures.map(\.rule.description) == ["XAPI-00014"])
    }

    @Test("Whatever is changed in a statement, the validator comes to an end and finds the same twice")
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

    @Test("What the validator lets through can be read, and what is read is written by the rules")
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

    @Test("Bytes changed at random never end a process")
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
