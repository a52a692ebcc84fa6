import InstrumentJSON
import Testing

@testable import InstrumentXAPI

/// Statements and parts of statements for the tests of the rules.
enum Example {
    static let mbox: JSONValue = ["mbox": "mailto:viewer@example.org"]
    static let account: JSONValue = ["account": ["homePage": "https://example.org", "name": "4711"]]
    static let group: JSONValue = ["objectType": "Group", "member": .array([mbox, account])]
    static let activity: JSONValue = ["id": "https://example.org/films/1"]
    static let statementRef: JSONValue = [
        "objectType": "StatementRef", "id": "e05aa883-acaf-40ad-bf54-02c8ce485fb0",
    ]
    static let verb: JSONValue = ["id": "http://adlnet.gov/expapi/verbs/experienced"]
    static let subStatement: JSONValue = [
        "objectType": "SubStatement", "actor": mbox, "verb": verb, "object": activity,
    ]
    static let attachment: JSONValue = [
        "usageType": "https://example.org/usage/poster", "display": ["en": "Poster"],
        "description": ["de-CH": "Plakat"],
        "contentType": "image/png; name=poster", "length": 27, "fileUrl": "https://example.org/poster.png",
        "sha2": "495395e777cd98da653df9615d09c0fd6bb2f8d4788394cd53c56a3bfdcd848a",
    ]

    /// The required parts only.
    static let least: JSONValue = ["actor": mbox, "verb": verb, "object": activity]

    /// All parts of both versions that can be combined.
    static let most: JSONValue = [
        "id": "12345678-1234-5678-1234-567812345678",
        "actor": [
            "objectType": "Group", "name": "Audience", "mbox_sha1sum": "ebd31e95054c018b10727ccffd2ef2ec3a016ee9",
            "member": [
                ["objectType": "Agent", "openid": "https://example.org/openid/7", "name": ""], account,
            ],
        ],
        "verb": ["id": "http://adlnet.gov/expapi/verbs/answered", "display": ["en-US": "answered", "de": ""]],
        "object": [
            "objectType": "Activity", "id": "urn:example:question",
            "definition": [
                "name": ["en": "Question"], "description": ["zh-Hant": "問題"],
                "type": "http://adlnet.gov/expapi/activities/cmi.interaction", "moreInfo": "https://example.org/more",
                "interactionType": "choice", "correctResponsesPattern": ["a[,]b"],
                "choices": [["id": "a", "description": ["en": "A"]], ["id": "b"]],
                "extensions": ["https://example.org/ext": ["anything": nil, "": [:]]],
            ],
        ],
        "result": [
            "score": ["scaled": -0.5, "raw": 3, "min": 0, "max": 10.5], "success": true, "completion": false,
            "response": "", "duration": "PT4H35M59.14S", "extensions": [:],
        ],
        "context": [
            "registration": "EC531277-B57B-4C15-8D91-D292C5B2B8F7", "instructor": account, "team": group,
            "revision": "7", "platform": "television", "language": "tlh", "statement": statementRef,
            "contextActivities": ["parent": activity, "category": [activity, activity]],
            "extensions": ["https://example.org/ext": nil],
        ],
        "timestamp": "2013-05-18T05:32:34.804+02:00", "stored": "2013-05-18T05:32:35Z",
        "authority": account, "version": "1.0.0", "attachments": [attachment],
    ]

    /// The smallest statement with another value at a path of keys; nil removes the value.
    static func with(_ keys: String..., value: JSONValue?) -> JSONValue { least.setting(keys[...], to: value) }
}

extension JSONValue {
    /// The same value with one change; missing objects are created.
    func setting(_ keys: ArraySlice<String>, to value: JSONValue?) -> JSONValue {
        guard let key = keys.first else { return value ?? .null }
        if case .array(var elements) = self, let index = Int(key), elements.indices.contains(index) {
            elements[index] = elements[index].setting(keys.dropFirst(), to: value)
            return .array(elements)
        }
        var members: [String: JSONValue] = if case .object(let members) = self { members } else { [:] }
        members[key] =
            keys.count == 1 ? value : (members[key] ?? .object([:])).setting(keys.dropFirst(), to: value)
        return .object(members)
    }

    func setting(_ keys: String..., to value: JSONValue?) -> JSONValue { setting(keys[...], to: value) }
}

/// A statement and its one broken rule or warning; no rule for a valid statement.
struct RuleCase: Sendable, CustomTestStringConvertible {
    var name: String
    var statement: JSONValue
    var rule: String?
    var path: String?
    var severity = ValidationFailure.Severity.error
    var versions = XAPIVersion.allCases

    static func good(_ name: String, _ statement: JSONValue, _ versions: XAPIVersion...) -> RuleCase {
        RuleCase(name: name, statement: statement, versions: versions.isEmpty ? XAPIVersion.allCases : versions)
    }

    static func bad(
        _ name: String,
        _ rule: String,
        _ path: String,
        _ statement: JSONValue,
        _ versions: XAPIVersion...
    ) -> RuleCase {
        RuleCase(
            name: name,
            statement: statement,
            rule: rule,
            path: path,
            versions: versions.isEmpty ? XAPIVersion.allCases : versions
        )
    }

    /// A valid statement with a warning.
    static func doubtful(_ name: String, _ rule: String, _ path: String, _ statement: JSONValue) -> RuleCase {
        RuleCase(name: name, statement: statement, rule: rule, path: path, severity: .warning)
    }

    var testDescription: String { name }

    /// The expected findings.
    var expected: [String] { rule.map { ["\(severity) \($0) \(path ?? "")"] } ?? [] }

    func found(_ version: XAPIVersion) -> [String] {
        StatementValidator(version: version).findings(in: statement).map { "\($0.severity) \($0.rule) \($0.path)" }
    }
}
