import InstrumentJSON
import Testing

@testable import InstrumentXAPI

@Suite("Messages of the statement validator")
struct FailureMessageTests {
    /// A faulty statement for every rule, in the tables of the rules' own tests.
    static let cases: [RuleCase] =
        (StatementRuleTests.statements + StatementRuleTests.actors + StatementRuleTests.objects
        + DetailRuleTests.definitions + DetailRuleTests.results + DetailRuleTests.contexts
        + DetailRuleTests.attachments).filter { $0.rule != nil }

    /// The rules that JSON values can break; `XAPI-00021` and those of the text are in ``texts``.
    static let rules: Set<String> = Set(
        ([1, 3, 4, 5, 6, 8, 9, 10, 14, 17, 22, 23, 24, 25, 27, 28] + Array(31...65) + Array(67...95)
            + [98] + Array(101...107) + [118, 121, 123, 124]).map { "XAPI-" + String("00000\($0)".suffix(5)) }
            + [
                "interaction-components-of-type", "context-extensions", "context-agents", "context-groups",
                "relevant-types", "authority-oauth-consumer", "attachment-description",
            ]
    )

    @Test("The table has a faulty statement for every rule")
    func coverage() {
        let covered = Set(Self.cases.compactMap(\.rule))
        #expect(Self.rules.subtracting(covered).isEmpty)
        #expect(covered.subtracting(Self.rules).isEmpty)
    }

    @Test("A message names the key, the requirement and the found value for every rule", arguments: cases)
    func shape(of rule: RuleCase) {
        for version in rule.versions {
            for finding in StatementValidator(version: version).findings(in: rule.statement) {
                check(finding, in: rule.statement)
            }
        }
    }

    @Test("A message about a text that is not a JSON value has a requirement", arguments: NotJSON.cases)
    func texts(_ text: NotJSON) {
        for finding in StatementValidator().findings(inJSON: text.bytes) { check(finding, in: nil) }
    }

    @Test("Messages about duplicate keys and about unlisted findings have a requirement")
    func duplicatesAndUnlisted() {
        let twice = Array(#"{"actor":{"mbox":"mailto:a@example.org","mbox":"mailto:a@example.org"}}"#.utf8)
        let many = Dictionary(uniqueKeysWithValues: (0..<1_500).map { ("key\($0)", JSONValue.int($0)) })
        let findings = StatementValidator().findings(inJSON: twice) + StatementValidator().findings(in: .object(many))
        #expect(Set(findings.map(\.rule.description)).isSuperset(of: ["XAPI-00021", "too-many-findings"]))
        for finding in findings { check(finding, in: nil) }
    }

    @Test("A message states the limit that the found value breaks")
    func limits() {
        let expected = [
            ("raw", 11, "`raw` must not be greater than `max` 10 (found 11)."),
            ("raw", -1, "`raw` must not be less than `min` 0 (found -1)."),
            ("min", 10, "`min` must be less than `max` 10 (found 10)."),
            ("scaled", 7, "`scaled` must be between -1 and 1 (found 7)."),
        ]
        for (key, number, message) in expected {
            var score: JSONValue = ["min": 0, "max": 10]
            score = score.setting(key, to: .int(number))
            let statement = Example.with("result", "score", value: score)
            #expect(StatementValidator().failures(in: statement).map(\.message) == [message])
        }
    }

    @Test("A description leaves out the found value, which may be personal")
    func descriptions() throws {
        let statement = Example.with("actor", value: ["mbox": "viewer@example.org", "name": 7])
        let failures = StatementValidator().failures(in: statement)
        #expect(failures.contains { $0.message.contains("viewer@example.org") })
        let expected = [
            "XAPI-00033 at $.actor.name: `name` must be a string.",
            "XAPI-00038 at $.actor.mbox: `mbox` must be `mailto:` followed by an e-mail address.",
        ]
        #expect(failures.map(\.description) == expected)
        let error = #expect(throws: StatementError.self) { try Statement(json: statement) }
        #expect(error?.description == expected.joined(separator: "\n"))
    }

    @Test(
        "A message lists the identifiers that it found",
        arguments: [
            (["name": "Viewer"], "none"), (["mbox": "mailto:a@example.org", "openid": "urn:a"], "mbox, openid"),
        ] as [(JSONValue, String)]
    )
    func identifiers(actor: JSONValue, found: String) {
        let messages = StatementValidator().failures(in: Example.with("actor", value: actor)).map(\.message)
        let requirement = "`actor` must have exactly one of mbox, mbox_sha1sum, openid, account"
        #expect(messages == ["\(requirement) (found \(found))."])
    }

    @Test(
        "A message shortens and escapes what it repeats of a hostile statement",
        arguments: [
            "\u{1B}]0;title\u{7}", "line\nfeed\r\t", "right\u{202E}left", "\u{9B}31m", "tag\u{E0041}", "a\u{2028}b",
            "quote\"back\\slash`tick", String(repeating: "x", count: 100_000),
            String(repeating: "\u{202E}", count: 10_000), String(repeating: "\u{301}", count: 10_000),
        ]
    )
    func hostile(text: String) {
        let statements = [
            Example.with("id", value: .string(text)), Example.with(text, value: .string(text)),
            Example.with("verb", "display", value: [text: 1]), Example.with("result", "extensions", value: [text: 1]),
            Example.with("context", "contextActivities", value: [text: 1]),
            Example.with("object", "objectType", value: .string(text)),
        ]
        for statement in statements {
            for finding in StatementValidator(version: .v2).findings(in: statement) {
                check(finding, in: nil)
                #expect(finding.message.unicodeScalars.count < 400)
            }
        }
    }

    /// The shape of every message: the key, a requirement, the found value if there is one, all of it harmless.
    private func check(_ finding: ValidationFailure, in statement: JSONValue?) {
        let message = finding.message
        let hasRequirement = ["must", "expected"].contains { message.contains($0) }
        #expect(hasRequirement, "\(finding)")
        #expect(message.hasSuffix("."), "\(finding)")
        #expect(!message.unicodeScalars.contains { $0.properties.generalCategory == .control }, "\(finding)")
        #expect(!message.unicodeScalars.contains { $0.properties.generalCategory == .format }, "\(finding)")
        #expect(!message.contains("\u{2028}"), "\(finding)")
        let keys = finding.path.dropFirst().split { ".[]'".contains($0) }
        if let key = keys.last(where: { Int($0) == nil }), !finding.path.contains("'") {
            #expect(message.contains("`\(key)"), "\(finding)")
        } else if finding.path == "$" {
            #expect(["The statement", "The text"].contains { message.hasPrefix($0) } || finding.rule == .tooMany)
        }
        let value = finding.path.contains("'") ? nil : statement?.value(at: keys)
        if let value, finding.rule != .keyTwice {
            #expect(message.contains("(found "), "\(finding)")
            if case .int(let number) = value { #expect(message.contains("\(number)"), "\(finding)") }
        }
    }
}

extension JSONValue {
    /// The value at the keys and indices of a path; nil if it does not exist.
    fileprivate func value(at keys: [Substring]) -> JSONValue? {
        keys.reduce(self as JSONValue?) { value, key in
            if case .array(let elements)? = value, let index = Int(key), elements.indices.contains(index) {
                return elements[index]
            }
            return value?[String(key)]
        }
    }
}
