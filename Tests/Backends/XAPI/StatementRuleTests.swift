import InstrumentJSON
import Testing

@testable import InstrumentXAPI

@Suite("Rules for statements")
struct StatementRuleTests {
    static let statements: [RuleCase] = [
        .good("the least", Example.least),
        .good("the most", Example.most),
        .good("an object as large as the specification's own voiding", voiding),
        .bad("no JSON object", "XAPI-00014", "$", ["statement"]),
        .bad("no actor", "XAPI-00003", "$.actor", Example.with("actor", value: nil)),
        .bad("no verb", "XAPI-00004", "$.verb", Example.with("verb", value: nil)),
        .bad("no object", "XAPI-00005", "$.object", Example.with("object", value: nil)),
        .bad("an unknown key", "XAPI-00010", "$.mood", Example.with("mood", value: "good")),
        .bad(
            "a key in another case",
            "XAPI-00008",
            "$.timeStamp",
            Example.with("timeStamp", value: "2015-01-01T00:00:00Z")
        ),
        .bad("a key with spaces", "XAPI-00010", "$['a b\\'c\\u000a']", Example.with("a b'c\n", value: 1)),
        .bad(
            "a null",
            "XAPI-00001",
            "$.result.response",
            Example.with("result", "response", value: .null).setting("result", "success", to: true)
        ),
        .doubtful("an empty result", "XAPI-00001", "$.result", Example.with("result", value: [:])),
        .doubtful("an empty context", "XAPI-00001", "$.context", Example.with("context", value: [:])),
        .bad("an id that is a number", "XAPI-00028", "$.id", Example.with("id", value: 12345)),
        .bad(
            "an id with too many digits",
            "XAPI-00027",
            "$.id",
            Example.with("id", value: "AA97B177-9383-4934-8543-0F91A7A028368")
        ),
        .bad(
            "an id with a letter",
            "XAPI-00027",
            "$.id",
            Example.with("id", value: "MA97B177-9383-4934-8543-0F91A7A02836")
        ),
        .bad(
            "an id without hyphens",
            "XAPI-00027",
            "$.id",
            Example.with("id", value: "AA97B177938349348543-0F91A7A02836")
        ),
        .bad("an empty id", "XAPI-00027", "$.id", Example.with("id", value: "")),
        .good("version 1.0", Example.with("version", value: "1.0")),
        .good("version 1.0.9", Example.with("version", value: "1.0.9")),
        .good("version 1.0.3-rc1", Example.with("version", value: "1.0.3-rc1")),
        .good("version 2.0.0", Example.with("version", value: "2.0.0"), .v2),
        .bad("version 2.0.0 in 1.0.3", "XAPI-00101", "$.version", Example.with("version", value: "2.0.0"), .v1),
        .bad("version 1.1.0", "XAPI-00101", "$.version", Example.with("version", value: "1.1.0")),
        .bad("version 0.9.9", "XAPI-00101", "$.version", Example.with("version", value: "0.9.9")),
        .bad("version 1.0.", "XAPI-00101", "$.version", Example.with("version", value: "1.0.")),
        .bad("version 2.1.0", "XAPI-00101", "$.version", Example.with("version", value: "2.1.0")),
        .bad("a version that is a number", "XAPI-00101", "$.version", Example.with("version", value: 1.0)),
        .bad("a verb without id", "XAPI-00044", "$.verb.id", Example.with("verb", value: ["display": ["en": "saw"]])),
        .bad("a verb that is a text", "XAPI-00006", "$.verb", Example.with("verb", value: "saw")),
        .bad("a verb's id without scheme", "XAPI-00044", "$.verb.id", Example.with("verb", "id", value: "verbs/saw")),
        .bad("an empty verb's id", "XAPI-00044", "$.verb.id", Example.with("verb", "id", value: "")),
        .bad(
            "a verb's display that is a text",
            "XAPI-00045",
            "$.verb.display",
            Example.with("verb", "display", value: "saw")
        ),
        .doubtful("an empty language map", "XAPI-00045", "$.verb.display", Example.with("verb", "display", value: [:])),
        .bad(
            "a language map of numbers",
            "XAPI-00045",
            "$.verb.display.en",
            Example.with("verb", "display", value: ["en": 2])
        ),
        .bad(
            "a null in a language map",
            "XAPI-00001",
            "$.verb.display.en",
            Example.with("verb", "display", value: ["en": nil])
        ),
        .bad(
            "a bad language tag",
            "XAPI-00121",
            "$.verb.display.a12345",
            Example.with("verb", "display", value: ["a12345": "saw"])
        ),
        .bad(
            "voiding an activity",
            "XAPI-00017",
            "$.object.objectType",
            Example.with("verb", "id", value: "http://adlnet.gov/expapi/verbs/voided")
        ),
        .bad("stored that is no time", "XAPI-00123", "$.stored", Example.with("stored", value: "yesterday")),
        .bad("stored that is a number", "XAPI-00023", "$.stored", Example.with("stored", value: 7)),
        .bad("a timestamp that is a number", "XAPI-00022", "$.timestamp", Example.with("timestamp", value: 7)),
        .bad(
            "a timestamp that is a date",
            "XAPI-00123",
            "$.timestamp",
            Example.with("timestamp", value: "01/011/2015")
        ),
        .good("a timestamp as ISO 8601 basic", Example.with("timestamp", value: "20150513T151600Z"), .v1),
        .bad(
            "a timestamp as ISO 8601 basic in 2.0",
            "XAPI-00123",
            "$.timestamp",
            Example.with("timestamp", value: "20150513T151600Z"),
            .v2
        ),
        .good("a timestamp without a zone", Example.with("timestamp", value: "2015-05-13T15:16:00"), .v1),
        .bad(
            "a timestamp without a zone in 2.0",
            "XAPI-00123",
            "$.timestamp",
            Example.with("timestamp", value: "2015-05-13T15:16:00"),
            .v2
        ),
        .good("a timestamp with a space", Example.with("timestamp", value: "2008-09-15 15:53:00.601+00:00"), .v2),
        .bad(
            "a timestamp with a space in 1.0.3",
            "XAPI-00123",
            "$.timestamp",
            Example.with("timestamp", value: "2008-09-15 15:53:00.601+00:00"),
            .v1
        ),
    ]

    static let voiding: JSONValue = Example.least
        .setting("verb", to: ["id": "http://adlnet.gov/expapi/verbs/voided", "display": ["en-US": "voided"]])
        .setting("object", to: Example.statementRef)

    static let actors: [RuleCase] = [
        .good("an account", Example.with("actor", value: Example.account)),
        .good("a group without identifier", Example.with("actor", value: Example.group)),
        .good(
            "a group of no members",
            Example.with("actor", value: ["objectType": "Group", "mbox": "mailto:a@example.org", "member": []])
        ),
        .bad("an actor that is a text", "XAPI-00006", "$.actor", Example.with("actor", value: "viewer")),
        .bad(
            "another objectType",
            "XAPI-00031",
            "$.actor.objectType",
            Example.with("actor", "objectType", value: "Robot")
        ),
        .bad(
            "an objectType in another case",
            "XAPI-00009",
            "$.actor.objectType",
            Example.with("actor", "objectType", value: "agent")
        ),
        .bad(
            "an objectType that is a number",
            "XAPI-00032",
            "$.actor.objectType",
            Example.with("actor", "objectType", value: 7)
        ),
        .bad("a name that is a number", "XAPI-00033", "$.actor.name", Example.with("actor", "name", value: 7)),
        .bad("a null name", "XAPI-00001", "$.actor.name", Example.with("actor", "name", value: .null)),
        .bad("no identifier", "XAPI-00034", "$.actor", Example.with("actor", value: ["name": "Viewer"])),
        .bad(
            "two identifiers",
            "XAPI-00034",
            "$.actor",
            Example.with("actor", "openid", value: "https://example.org/7")
        ),
        .bad(
            "members of an agent",
            "XAPI-00035",
            "$.actor.member",
            Example.with("actor", "member", value: [Example.mbox])
        ),
        .bad("an agent's unknown key", "XAPI-00010", "$.actor.mood", Example.with("actor", "mood", value: "good")),
        .bad(
            "a group of nobody",
            "XAPI-00037",
            "$.actor.member",
            Example.with("actor", value: ["objectType": "Group", "member": []])
        ),
        .bad("a group with nothing", "XAPI-00037", "$.actor", Example.with("actor", value: ["objectType": "Group"])),
        .bad(
            "a group with two identifiers",
            "XAPI-00037",
            "$.actor",
            Example.with(
                "actor",
                value: Example.group.setting("mbox", to: "mailto:a@example.org").setting(
                    "openid",
                    to: "https://example.org/7"
                )
            )
        ),
        .bad(
            "members that are no array",
            "XAPI-00036",
            "$.actor.member",
            Example.with("actor", value: ["objectType": "Group", "member": Example.mbox])
        ),
        .bad(
            "a group in a group",
            "XAPI-00036",
            "$.actor.member[1].objectType",
            Example.with("actor", value: Example.group.setting("member", "1", to: Example.group))
        ),
        .bad(
            "a bad member",
            "XAPI-00038",
            "$.actor.member[0].mbox",
            Example.with("actor", value: Example.group.setting("member", "0", to: ["mbox": "viewer"]))
        ),
        .bad(
            "an mbox without mailto",
            "XAPI-00038",
            "$.actor.mbox",
            Example.with("actor", "mbox", value: "viewer@example.org")
        ),
        .bad(
            "an mbox that is no address",
            "XAPI-00038",
            "$.actor.mbox",
            Example.with("actor", "mbox", value: "mailto:should.fail.com")
        ),
        .bad("an mbox that is a number", "XAPI-00038", "$.actor.mbox", Example.with("actor", "mbox", value: 7)),
        .bad(
            "a short sum",
            "XAPI-00039",
            "$.actor.mbox_sha1sum",
            Example.with("actor", value: ["mbox_sha1sum": "ebd31e95"])
        ),
        .bad(
            "a sum of other letters",
            "XAPI-00039",
            "$.actor.mbox_sha1sum",
            Example.with("actor", value: ["mbox_sha1sum": "zbd31e95054c018b10727ccffd2ef2ec3a016ee9"])
        ),
        .bad(
            "an openid without scheme",
            "XAPI-00040",
            "$.actor.openid",
            Example.with("actor", value: ["openid": "ab=c://should.fail.com"])
        ),
        .bad(
            "an account that is a text",
            "XAPI-00041",
            "$.actor.account",
            Example.with("actor", value: ["account": "4711"])
        ),
        .bad(
            "an account without homePage",
            "XAPI-00042",
            "$.actor.account.homePage",
            Example.with("actor", value: ["account": ["name": "4711"]])
        ),
        .bad(
            "an account's bad homePage",
            "XAPI-00042",
            "$.actor.account.homePage",
            Example.with("actor", value: Example.account.setting("account", "homePage", to: "example.org"))
        ),
        .bad(
            "an account without name",
            "XAPI-00043",
            "$.actor.account.name",
            Example.with("actor", value: Example.account.setting("account", "name", to: nil))
        ),
        .bad(
            "an account's name that is an object",
            "XAPI-00043",
            "$.actor.account.name",
            Example.with("actor", value: Example.account.setting("account", "name", to: ["a": 1]))
        ),
        .bad(
            "an account's unknown key",
            "XAPI-00010",
            "$.actor.account.id",
            Example.with("actor", value: Example.account.setting("account", "id", to: 7))
        ),
        .good("an authority of two", Example.with("authority", value: Example.group)),
        .bad("an authority that is a text", "XAPI-00024", "$.authority", Example.with("authority", value: "me")),
        .bad(
            "an authority of one",
            "XAPI-00098",
            "$.authority.member",
            Example.with("authority", value: ["objectType": "Group", "member": [Example.account]])
        ),
        .bad(
            "an authority of three",
            "XAPI-00098",
            "$.authority.member",
            Example.with(
                "authority",
                value: ["objectType": "Group", "member": [Example.account, Example.mbox, Example.mbox]]
            )
        ),
        .bad(
            "an authority with its own name",
            "XAPI-00098",
            "$.authority",
            Example.with("authority", value: Example.group.setting("mbox", to: "mailto:a@example.org"))
        ),
        .bad(
            "an authority without application",
            "authority-oauth-consumer",
            "$.authority.member",
            Example.with("authority", value: ["objectType": "Group", "member": [Example.mbox, Example.mbox]])
        ),
    ]

    static let objects: [RuleCase] = [
        .good("an agent", Example.with("object", value: Example.mbox.setting("objectType", to: "Agent"))),
        .good("a group", Example.with("object", value: Example.group)),
        .good("a StatementRef", Example.with("object", value: Example.statementRef)),
        .good("a sub-statement", Example.with("object", value: Example.subStatement)),
        .good(
            "a sub-statement of a StatementRef",
            Example.with("object", value: Example.subStatement.setting("object", to: Example.statementRef))
        ),
        .bad("an object that is a text", "XAPI-00006", "$.object", Example.with("object", value: "film")),
        .bad(
            "another objectType",
            "XAPI-00046",
            "$.object.objectType",
            Example.with("object", "objectType", value: "Film")
        ),
        .bad(
            "an objectType in another case",
            "XAPI-00009",
            "$.object.objectType",
            Example.with("object", value: Example.statementRef.setting("objectType", to: "statementref"))
        ),
        .bad(
            "an activity without id",
            "XAPI-00047",
            "$.object.id",
            Example.with("object", value: ["objectType": "Activity"])
        ),
        .bad(
            "an activity's bad id",
            "XAPI-00047",
            "$.object.id",
            Example.with("object", "id", value: "ab=c://should.fail.com")
        ),
        .bad("an activity's unknown key", "XAPI-00010", "$.object.name", Example.with("object", "name", value: "Film")),
        .bad(
            "an agent without objectType",
            "XAPI-00065",
            "$.object.objectType",
            Example.with("object", value: Example.mbox)
        ),
        .bad(
            "a group without objectType",
            "XAPI-00065",
            "$.object.objectType",
            Example.with("object", value: Example.group.setting("objectType", to: nil))
        ),
        .bad(
            "a StatementRef without objectType",
            "XAPI-00073",
            "$.object.objectType",
            Example.with("object", value: Example.statementRef.setting("objectType", to: nil))
        ),
        .bad(
            "a sub-statement without objectType",
            "XAPI-00073",
            "$.object.objectType",
            Example.with("object", value: Example.subStatement.setting("objectType", to: nil))
        ),
        .bad(
            "a StatementRef without id",
            "XAPI-00072",
            "$.object.id",
            Example.with("object", value: ["objectType": "StatementRef"])
        ),
        .bad(
            "a StatementRef's bad id",
            "XAPI-00072",
            "$.object.id",
            Example.with("object", value: Example.statementRef.setting("id", to: "should fail"))
        ),
        .bad("a sub-statement's id", "XAPI-00070", "$.object.id", sub("id", "e05aa883-acaf-40ad-bf54-02c8ce485fb0")),
        .bad("a sub-statement's stored", "XAPI-00069", "$.object.stored", sub("stored", "2013-05-18T05:32:34.804Z")),
        .bad("a sub-statement's version", "XAPI-00068", "$.object.version", sub("version", "1.0.0")),
        .bad("a sub-statement's authority", "XAPI-00067", "$.object.authority", sub("authority", Example.mbox)),
        .bad(
            "a sub-statement in a sub-statement",
            "XAPI-00071",
            "$.object.object",
            sub("object", Example.subStatement)
        ),
        .bad("a sub-statement without verb", "XAPI-00004", "$.object.verb", sub("verb", nil)),
        .bad(
            "a sub-statement's bad context",
            "XAPI-00087",
            "$.object.context.registration",
            sub("context", ["registration": "7"])
        ),
    ]

    private static func sub(_ key: String, _ value: JSONValue?) -> JSONValue {
        Example.with("object", value: Example.subStatement.setting(key, to: value))
    }

    @Test("Statements, verbs, versions and times", arguments: statements)
    func statement(_ rule: RuleCase) { for version in rule.versions { #expect(rule.found(version) == rule.expected) } }

    @Test("Agents, groups and authorities", arguments: actors)
    func actor(_ rule: RuleCase) { for version in rule.versions { #expect(rule.found(version) == rule.expected) } }

    @Test("Objects and sub-statements", arguments: objects)
    func object(_ rule: RuleCase) { for version in rule.versions { #expect(rule.found(version) == rule.expected) } }
}
