import InstrumentJSON
import Testing

@testable import InstrumentXAPI

@Suite("Rules for definitions, results, contexts and attachments")
struct DetailRuleTests {
    static let interactions: [RuleCase] =
        ["true-false", "fill-in", "long-fill-in", "numeric", "other"].map { interaction($0, lists: []) }
        + [
            ("choice", ["choices"]), ("sequencing", ["choices"]), ("likert", ["scale"]), ("performance", ["steps"]),
            ("matching", ["source", "target"]),
        ]
        .map { interaction($0.0, lists: $0.1) }

    private static func interaction(_ type: String, lists: [String]) -> RuleCase {
        var definition: JSONValue = ["interactionType": .string(type), "correctResponsesPattern": []]
        for list in lists { definition = definition.setting(list, to: [["id": "a"], ["id": "b"]]) }
        return .good(type, Example.with("object", "definition", value: definition))
    }

    private static func definition(_ key: String, _ value: JSONValue?, type: JSONValue? = nil) -> JSONValue {
        Example.with("object", "definition", key, value: value)
            .setting("object", "definition", "interactionType", to: type ?? (key == "interactionType" ? value : nil))
    }

    static let definitions: [RuleCase] = [
        .bad(
            "a definition that is a text",
            "XAPI-00048",
            "$.object.definition",
            Example.with("object", "definition", value: "film")
        ),
        .doubtful(
            "an empty definition",
            "XAPI-00001",
            "$.object.definition",
            Example.with("object", "definition", value: [:])
        ),
        .bad("an unknown key", "XAPI-00010", "$.object.definition.year", definition("year", 1927)),
        .bad("a name that is a text", "XAPI-00056", "$.object.definition.name", definition("name", "Film")),
        .bad(
            "a description that is a number",
            "XAPI-00059",
            "$.object.definition.description",
            definition("description", 7)
        ),
        .bad("a type without scheme", "XAPI-00060", "$.object.definition.type", definition("type", "film")),
        .bad(
            "moreInfo in another case",
            "XAPI-00008",
            "$.object.definition.moreinfo",
            definition("moreinfo", "https://example.org")
        ),
        .bad("moreInfo without scheme", "XAPI-00061", "$.object.definition.moreInfo", definition("moreInfo", "/more")),
        .bad(
            "extensions that are a text",
            "XAPI-00057",
            "$.object.definition.extensions",
            definition("extensions", "more")
        ),
        .bad(
            "an extension's bad key",
            "XAPI-00118",
            "$.object.definition.extensions.id",
            definition("extensions", ["id": "more"])
        ),
        .bad(
            "another interactionType",
            "XAPI-00049",
            "$.object.definition.interactionType",
            definition("interactionType", "guess")
        ),
        .bad(
            "an interactionType in another case",
            "XAPI-00009",
            "$.object.definition.interactionType",
            definition("interactionType", "true-faLse")
        ),
        .bad(
            "an interactionType that is a number",
            "XAPI-00049",
            "$.object.definition.interactionType",
            definition("interactionType", 7)
        ),
        .bad(
            "responses without a type",
            "XAPI-00064",
            "$.object.definition.interactionType",
            definition("correctResponsesPattern", ["a"])
        ),
        .bad(
            "choices without a type",
            "XAPI-00064",
            "$.object.definition.interactionType",
            definition("choices", [["id": "a"]])
        ),
        .bad(
            "responses that are a text",
            "XAPI-00050",
            "$.object.definition.correctResponsesPattern",
            definition("correctResponsesPattern", "a", type: "choice")
        ),
        .bad(
            "a response that is a number",
            "XAPI-00050",
            "$.object.definition.correctResponsesPattern[1]",
            definition("correctResponsesPattern", ["a", 1], type: "choice")
        ),
        .bad(
            "choices of a likert",
            "interaction-components-of-type",
            "$.object.definition.choices",
            definition("choices", [["id": "a"]], type: "likert")
        ),
        .bad(
            "steps of a true-false",
            "interaction-components-of-type",
            "$.object.definition.steps",
            definition("steps", [["id": "a"]], type: "true-false")
        ),
        .bad(
            "choices that are an object",
            "XAPI-00055",
            "$.object.definition.choices",
            definition("choices", ["id": "a"], type: "choice")
        ),
        .bad(
            "a scale that is a text",
            "XAPI-00054",
            "$.object.definition.scale",
            definition("scale", "a", type: "likert")
        ),
        .bad(
            "a source that is a text",
            "XAPI-00053",
            "$.object.definition.source",
            definition("source", "a", type: "matching")
        ),
        .bad(
            "a target that is a text",
            "XAPI-00052",
            "$.object.definition.target",
            definition("target", "a", type: "matching")
        ),
        .bad(
            "steps that are a text",
            "XAPI-00051",
            "$.object.definition.steps",
            definition("steps", "a", type: "performance")
        ),
        .bad(
            "a component that is a text",
            "XAPI-00063",
            "$.object.definition.choices[0]",
            definition("choices", ["a"], type: "choice")
        ),
        .bad(
            "a component without id",
            "XAPI-00058",
            "$.object.definition.choices[0].id",
            definition("choices", [["description": ["en": "A"]]], type: "choice")
        ),
        .bad(
            "a component's id that is a number",
            "XAPI-00058",
            "$.object.definition.choices[0].id",
            definition("choices", [["id": 1]], type: "choice")
        ),
        .bad(
            "two components of one id",
            "XAPI-00058",
            "$.object.definition.choices[1].id",
            definition("choices", [["id": "a"], ["id": "a"]], type: "choice")
        ),
        .bad(
            "a component's bad description",
            "XAPI-00062",
            "$.object.definition.choices[0].description",
            definition("choices", [["id": "a", "description": "A"]], type: "choice")
        ),
        .bad(
            "a component's unknown key",
            "XAPI-00010",
            "$.object.definition.choices[0].text",
            definition("choices", [["id": "a", "text": "A"]], type: "choice")
        ),
    ]

    static let results: [RuleCase] = [
        .good("a score of 1", Example.with("result", "score", "scaled", value: 1.0)),
        .good("a score of -1", Example.with("result", "score", "scaled", value: -1)),
        .good("raw at the edge", Example.with("result", "score", value: ["raw": 10, "max": 10])),
        .good("raw alone", Example.with("result", "score", "raw", value: -7)),
        .bad("a result that is a text", "XAPI-00006", "$.result", Example.with("result", value: "good")),
        .bad("an unknown key", "XAPI-00010", "$.result.grade", Example.with("result", "grade", value: "A")),
        .bad(
            "success that is a text",
            "XAPI-00074",
            "$.result.success",
            Example.with("result", "success", value: "true")
        ),
        .bad(
            "completion that is a text",
            "XAPI-00075",
            "$.result.completion",
            Example.with("result", "completion", value: "false")
        ),
        .bad(
            "a response that is a number",
            "XAPI-00076",
            "$.result.response",
            Example.with("result", "response", value: 7)
        ),
        .bad(
            "a duration that is a number",
            "XAPI-00077",
            "$.result.duration",
            Example.with("result", "duration", value: 12345)
        ),
        .bad(
            "a bad duration",
            "XAPI-00124",
            "$.result.duration",
            Example.with("result", "duration", value: "PA1H0M0S")
        ),
        .bad(
            "extensions that are a text",
            "XAPI-00078",
            "$.result.extensions",
            Example.with("result", "extensions", value: "more")
        ),
        .bad(
            "an extension's bad key",
            "XAPI-00118",
            "$.result.extensions['should fail']",
            Example.with("result", "extensions", value: ["should fail": true])
        ),
        .bad("a score that is a number", "XAPI-00079", "$.result.score", Example.with("result", "score", value: 12345)),
        .doubtful("an empty score", "XAPI-00001", "$.result.score", Example.with("result", "score", value: [:])),
        .bad(
            "a score above 1",
            "XAPI-00083",
            "$.result.score.scaled",
            Example.with("result", "score", "scaled", value: 1.01)
        ),
        .bad(
            "a score below -1",
            "XAPI-00083",
            "$.result.score.scaled",
            Example.with("result", "score", "scaled", value: -1.00001)
        ),
        .bad(
            "a max that is a text",
            "XAPI-00080",
            "$.result.score.max",
            Example.with("result", "score", "max", value: "100")
        ),
        .bad(
            "a min that is a text",
            "XAPI-00081",
            "$.result.score.min",
            Example.with("result", "score", "min", value: "0")
        ),
        .bad(
            "a min above the max",
            "XAPI-00081",
            "$.result.score.min",
            Example.with("result", "score", value: ["min": 2, "max": 1])
        ),
        .bad(
            "a min that is the max",
            "XAPI-00081",
            "$.result.score.min",
            Example.with("result", "score", value: ["min": 1, "max": 1.0])
        ),
        .bad(
            "raw above the max",
            "XAPI-00082",
            "$.result.score.raw",
            Example.with("result", "score", value: ["raw": 11, "max": 10])
        ),
        .bad(
            "raw below the min",
            "XAPI-00082",
            "$.result.score.raw",
            Example.with("result", "score", value: ["raw": -1, "min": 0])
        ),
        .bad(
            "raw that is a text",
            "XAPI-00082",
            "$.result.score.raw",
            Example.with("result", "score", value: ["raw": "1"])
        ),
    ]

    private static func context(_ key: String, _ value: JSONValue) -> JSONValue {
        Example.with("context", key, value: value)
    }
    private static func agents(_ value: JSONValue) -> JSONValue { context("contextAgents", [value]) }
    private static func groups(_ value: JSONValue) -> JSONValue { context("contextGroups", [value]) }
    private static let contextAgent: JSONValue = [
        "objectType": "contextAgent", "agent": Example.mbox, "relevantTypes": ["https://example.org/player"],
    ]
    private static let contextGroup: JSONValue = ["objectType": "contextGroup", "group": Example.group]

    static let contexts: [RuleCase] = [
        .good("an empty list of activities", context("contextActivities", ["parent": []])),
        .good("a group that instructs", context("instructor", Example.group)),
        .bad("a context that is a text", "XAPI-00006", "$.context", Example.with("context", value: "home")),
        .bad("an unknown key", "XAPI-00010", "$.context.place", context("place", "home")),
        .bad(
            "a registration that is a text",
            "XAPI-00087",
            "$.context.registration",
            context("registration", "should fail")
        ),
        .bad("an instructor that is a text", "XAPI-00087", "$.context.instructor", context("instructor", "me")),
        .bad("a team that is an agent", "XAPI-00088", "$.context.team.objectType", context("team", Example.mbox)),
        .bad("a team that is a text", "XAPI-00088", "$.context.team", context("team", "us")),
        .bad("a revision that is a number", "XAPI-00089", "$.context.revision", context("revision", 7)),
        .bad("a platform that is a number", "XAPI-00090", "$.context.platform", context("platform", 7)),
        .bad(
            "a revision of an agent",
            "XAPI-00084",
            "$.context.revision",
            context("revision", "7").setting("object", to: Example.group)
        ),
        .bad(
            "a platform of a StatementRef",
            "XAPI-00085",
            "$.context.platform",
            context("platform", "7").setting("object", to: Example.statementRef)
        ),
        .bad("a language that is a number", "XAPI-00091", "$.context.language", context("language", 7)),
        .bad("a bad language", "XAPI-00091", "$.context.language", context("language", "something")),
        .bad(
            "a statement of another type",
            "XAPI-00009",
            "$.context.statement.objectType",
            context("statement", Example.statementRef.setting("objectType", to: "statementref"))
        ),
        .bad(
            "a statement without type",
            "XAPI-00092",
            "$.context.statement.objectType",
            context("statement", Example.statementRef.setting("objectType", to: nil))
        ),
        .bad(
            "a statement's bad id",
            "XAPI-00072",
            "$.context.statement.id",
            context("statement", Example.statementRef.setting("id", to: "7"))
        ),
        .bad(
            "activities that are a text",
            "XAPI-00086",
            "$.context.contextActivities",
            context("contextActivities", "film")
        ),
        .doubtful("no activities", "XAPI-00095", "$.context.contextActivities", context("contextActivities", [:])),
        .bad(
            "activities of another kind",
            "XAPI-00093",
            "$.context.contextActivities.sibling",
            context("contextActivities", ["sibling": Example.activity])
        ),
        .bad(
            "an activity that is a text",
            "XAPI-00094",
            "$.context.contextActivities.parent",
            context("contextActivities", ["parent": "film"])
        ),
        .bad(
            "an agent among activities",
            "XAPI-00046",
            "$.context.contextActivities.other[0].objectType",
            context("contextActivities", ["other": [["objectType": "Agent", "id": "https://example.org/1"]]])
        ),
        .bad(
            "an activity's bad id",
            "XAPI-00047",
            "$.context.contextActivities.grouping[0].id",
            context("contextActivities", ["grouping": [["id": "film"]]])
        ),
        .bad("extensions that are a text", "context-extensions", "$.context.extensions", context("extensions", "more")),
        .bad(
            "an extension's bad key",
            "XAPI-00118",
            "$.context.extensions.appId",
            context("extensions", ["appId": "film"])
        ),
        .good("context agents", agents(contextAgent), .v2),
        .good("context agents without relevant types", agents(contextAgent.setting("relevantTypes", to: nil)), .v2),
        .bad("context agents in 1.0.3", "XAPI-00010", "$.context.contextAgents", agents(contextAgent), .v1),
        .bad("context groups in 1.0.3", "XAPI-00010", "$.context.contextGroups", groups(contextGroup), .v1),
        .good("context groups", groups(contextGroup), .v2),
        .bad(
            "context agents that are an object",
            "context-agents",
            "$.context.contextAgents",
            context("contextAgents", contextAgent),
            .v2
        ),
        .bad(
            "a context agent of another type",
            "context-agents",
            "$.context.contextAgents[0].objectType",
            agents(contextAgent.setting("objectType", to: "Should fail")),
            .v2
        ),
        .bad(
            "a context agent without type",
            "context-agents",
            "$.context.contextAgents[0].objectType",
            agents(contextAgent.setting("objectType", to: nil)),
            .v2
        ),
        .bad(
            "a context agent without agent",
            "context-agents",
            "$.context.contextAgents[0].agent",
            agents(contextAgent.setting("agent", to: nil)),
            .v2
        ),
        .bad(
            "a context agent that is a group",
            "context-agents",
            "$.context.contextAgents[0].agent.objectType",
            agents(contextAgent.setting("agent", to: Example.group)),
            .v2
        ),
        .bad(
            "a context agent's unknown key",
            "XAPI-00010",
            "$.context.contextAgents[0].group",
            agents(contextAgent.setting("group", to: Example.group)),
            .v2
        ),
        .bad(
            "a context group that is an agent",
            "context-groups",
            "$.context.contextGroups[0].group.objectType",
            groups(contextGroup.setting("group", to: Example.mbox)),
            .v2
        ),
        .bad(
            "no relevant types",
            "relevant-types",
            "$.context.contextAgents[0].relevantTypes",
            agents(contextAgent.setting("relevantTypes", to: [])),
            .v2
        ),
        .bad(
            "a relevant type without scheme",
            "relevant-types",
            "$.context.contextAgents[0].relevantTypes[0]",
            agents(contextAgent.setting("relevantTypes", to: ["abc"])),
            .v2
        ),
    ]

    private static func attachment(_ key: String, _ value: JSONValue?) -> JSONValue {
        Example.with("attachments", value: [Example.attachment.setting(key, to: value)])
    }

    static let attachments: [RuleCase] = [
        .good("none", Example.with("attachments", value: [])),
        .good("the least", attachment("description", nil).setting("attachments", "0", "fileUrl", to: nil)),
        .bad(
            "one that is not in an array",
            "XAPI-00025",
            "$.attachments",
            Example.with("attachments", value: Example.attachment)
        ),
        .bad("a text", "XAPI-00025", "$.attachments[0]", Example.with("attachments", value: ["film"])),
        .bad("an unknown key", "XAPI-00010", "$.attachments[0].name", attachment("name", "film")),
        .bad("no usageType", "XAPI-00107", "$.attachments[0].usageType", attachment("usageType", nil)),
        .bad(
            "a usageType without scheme",
            "XAPI-00107",
            "$.attachments[0].usageType",
            attachment("usageType", "should fail")
        ),
        .bad("no display", "XAPI-00106", "$.attachments[0].display", attachment("display", nil)),
        .bad("a display that is a text", "XAPI-00106", "$.attachments[0].display", attachment("display", "film")),
        .bad(
            "a description that is a text",
            "attachment-description",
            "$.attachments[0].description",
            attachment("description", "film")
        ),
        .bad(
            "a description's bad tag",
            "XAPI-00121",
            "$.attachments[0].description['de-419-DE']",
            attachment("description", ["de-419-DE": "film"])
        ),
        .bad("no contentType", "XAPI-00105", "$.attachments[0].contentType", attachment("contentType", nil)),
        .bad(
            "an invalid contentType",
            "XAPI-00105",
            "$.attachments[0].contentType",
            attachment("contentType", "should fail")
        ),
        .bad("no length", "XAPI-00102", "$.attachments[0].length", attachment("length", nil)),
        .bad("a length that is a text", "XAPI-00102", "$.attachments[0].length", attachment("length", "27")),
        .bad("a length with a fraction", "XAPI-00102", "$.attachments[0].length", attachment("length", 27.5)),
        .bad("a negative length", "XAPI-00102", "$.attachments[0].length", attachment("length", -1)),
        .bad("no sha2", "XAPI-00103", "$.attachments[0].sha2", attachment("sha2", nil)),
        .bad("a sha2 that is a number", "XAPI-00103", "$.attachments[0].sha2", attachment("sha2", 12345)),
        .bad("a sha2 in Base64", "XAPI-00103", "$.attachments[0].sha2", attachment("sha2", "Q3lxN0R1NQ==")),
        .bad("a fileUrl without scheme", "XAPI-00104", "$.attachments[0].fileUrl", attachment("fileUrl", "film.png")),
    ]

    @Test("Interactions of every type", arguments: interactions)
    func interaction(_ rule: RuleCase) { check(rule) }

    @Test("Definitions and interaction components", arguments: definitions)
    func definition(_ rule: RuleCase) { check(rule) }

    @Test("Results and scores", arguments: results)
    func result(_ rule: RuleCase) { check(rule) }

    @Test("Contexts", arguments: contexts)
    func context(_ rule: RuleCase) { check(rule) }

    @Test("Attachments", arguments: attachments)
    func attachment(_ rule: RuleCase) { check(rule) }

    private func check(_ rule: RuleCase) {
        for version in rule.versions { #expect(rule.found(version) == rule.expected) }
    }
}
