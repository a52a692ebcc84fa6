import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentSeer
@testable import InstrumentXAPI

@Suite("Seer payloads")
struct SeerPayloadTests {
    static let activity: JSONValue = [
        "actor": ["id": "tag:example.org,2024:viewer", "objectType": "person", "displayName": "Viewer"],
        "verb": "watch",
        "object": ["id": "tag:example.org,2024:film", "objectType": "video", "url": "https://example.org/film"],
        "target": ["id": "tag:example.org,2024:list"],
        "generator": [
            "appId": "example-player", "deviceAbstraction": ["deviceModel": "television", "networks": ["wifi"]],
        ],
        "context": ["place": "home"],
        "published": "2026-11-21T08:00:00.000Z",
    ]
    static let tinCan: JSONValue = [
        "id": "E05AA883-ACAF-40AD-BF54-02C8CE485FB0",
        "actor": [
            "name": "Viewer", "mbox": "viewer@example.org",
            "account": ["homePage": "https://example.org", "name": "4711"],
        ],
        "verb": ["id": "http://adlnet.gov/expapi/verbs/interacted", "display": ["en-US": "interacted"]],
        "object": [
            "objectType": "Activity", "id": "https://example.org/films/1",
            "definition": ["type": "https://example.org/type/film", "name": ["en-US": "Film"]],
        ],
        "result": ["completion": true, "score": ["scaled": 0.95]],
        "context": ["platform": "television", "extensions": ["appId": "example-player", "district": "9"]],
        "timestamp": "2026-11-21T08:00:00.000Z",
    ]

    @Test("A typed activity and the same activity as an object are equal JSON")
    func typedActivity() {
        let typed = Seer.ActivityStream(
            actor: Seer.Thing(
                id: "tag:example.org,2024:viewer",
                objectType: "person",
                properties: ["displayName": "Viewer"]
            ),
            verb: "watch",
            object: Seer.Thing(
                id: "tag:example.org,2024:film",
                objectType: "video",
                properties: ["url": "https://example.org/film"]
            ),
            target: Seer.Thing(id: "tag:example.org,2024:list"),
            generator: Seer.Generator(
                appID: "example-player",
                properties: ["deviceAbstraction": ["deviceModel": "television", "networks": ["wifi"]]]
            ),
            context: ["place": "home"],
            published: Seer.timestamp(WallTime(milliseconds: 1_795_248_000_000))
        )
        #expect(typed.json == Self.activity)
        #expect(typed.json.bytes == Self.activity.bytes)
        #expect(SeerValidator(isStrict: true).failures(inActivity: typed.json) == [])
    }

    @Test("A typed Tin Can statement and the same statement as an object are equal JSON")
    func typedTinCan() {
        let typed = Seer.TinCan(
            id: "E05AA883-ACAF-40AD-BF54-02C8CE485FB0",
            actor: Seer.TinCan.Actor(
                mbox: "viewer@example.org",
                account: ["homePage": "https://example.org", "name": "4711"],
                properties: ["name": "Viewer"]
            ),
            verb: Seer.TinCan.Verb(
                id: "http://adlnet.gov/expapi/verbs/interacted",
                display: ["en-US": "interacted"]
            ),
            object: Seer.TinCan.Object(
                id: "https://example.org/films/1",
                type: "https://example.org/type/film",
                definition: ["name": ["en-US": "Film"]],
                properties: ["objectType": "Activity"]
            ),
            result: ["completion": true, "score": ["scaled": 0.95]],
            context: Seer.TinCan.Context(
                appID: "example-player",
                extensions: ["district": "9"],
                properties: ["platform": "television"]
            ),
            timestamp: "2026-11-21T08:00:00.000Z"
        )
        #expect(typed.json == Self.tinCan)
        #expect(typed.json.bytes == Self.tinCan.bytes)
        #expect(SeerValidator().failures(inTinCan: typed.json) == [])
    }

    @Test("Empty parts are left out, and a property never replaces a field")
    func leftOut() {
        let least = Seer.Instrumentation(
            actor: Seer.Thing(id: "a", properties: ["id": "b"]),
            verb: "play",
            object: Seer.Thing(id: "o", objectType: "video"),
            generator: Seer.Generator(appID: "app", properties: ["appId": "other"]),
            properties: ["verb": "other", "serial": 7]
        )
        #expect(
            least.json.description == """
                {"actor":{"id":"a"},"generator":{"appId":"app"},"object":{"id":"o","objectType":"video"},"serial":7,\
                "verb":"play"}
                """
        )
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var keys: [String]
        var value: JSONValue?
        var found: [String]
        var testDescription: String { keys.joined(separator: ".") + " " + (value?.description ?? "absent") }

        init(_ keys: String, _ value: JSONValue?, _ found: String...) {
            (self.keys, self.value, self.found) = (keys.split(separator: ".").map(String.init), value, found)
        }
    }

    @Test(
        "Failures of activities name the rule and the path",
        arguments: [
            Change("actor.id", nil, "seer-actor-id $.actor.id"), Change("actor.id", "", "seer-actor-id $.actor.id"),
            Change("actor.id", 7, "seer-actor-id $.actor.id"), Change("actor", "viewer", "seer-actor-id $.actor.id"),
            Change("actor", nil, "seer-actor-id $.actor.id"), Change("verb", nil, "seer-verb $.verb"),
            Change("verb", ["id": "watch"], "seer-verb $.verb"), Change("verb", "", "seer-verb $.verb"),
            Change("generator.appId", nil, "seer-generator-app-id $.generator.appId"),
            Change("generator.appId", 7, "seer-generator-app-id $.generator.appId"),
            Change("object.id", nil, "seer-object-id $.object.id"),
            Change("object.objectType", "", "seer-object-type $.object.objectType"),
            Change("object", nil, "seer-object-id $.object.id", "seer-object-type $.object.objectType"),
            Change("context", nil), Change("context", [:]), Change("context", "home", "seer-context $.context"),
            Change("context", ["a": 1, "b": "c", "d": nil], "seer-context $.context.a", "seer-context $.context.d"),
            Change("published", nil), Change("extra", nil),
        ]
    )
    func activityRules(_ change: Change) {
        let payload = Self.activity.setting(change.keys[...], to: change.value)
        let failures = SeerValidator().failures(inActivity: payload)
        #expect(failures.map { "\($0.rule) \($0.path)" } == change.found)
        for failure in failures { check(failure) }
    }

    @Test(
        "Only strict validation requires published",
        arguments: [nil, "", "yesterday", 7] as [JSONValue?]
    )
    func strict(published: JSONValue?) {
        let payload = Self.activity.setting("published", to: published)
        #expect(SeerValidator().failures(inActivity: payload) == [])
        let failures = SeerValidator(isStrict: true).failures(inActivity: payload)
        #expect(failures.map { "\($0.rule) \($0.path)" } == ["seer-published $.published"])
    }

    @Test(
        "Failures of Tin Can statements name the rule and the path",
        arguments: [
            Change("actor.mbox", nil), Change("actor.account", nil),
            Change("actor", ["openid": "https://example.org/7"]), Change("actor", ["mbox_sha1sum": "ebd31e95"]),
            Change("actor", ["name": "Viewer"], "seer-tincan-identifier $.actor"),
            Change("actor", ["mbox": "", "account": [:]], "seer-tincan-identifier $.actor"),
            Change("actor", ["account": "4711"], "seer-tincan-identifier $.actor"),
            Change("actor", nil, "seer-tincan-identifier $.actor"),
            Change("verb.id", nil, "seer-tincan-verb-id $.verb.id"),
            Change("verb", "watched", "seer-tincan-verb-id $.verb.id"),
            Change("object.id", "", "seer-tincan-object-id $.object.id"),
            Change("object.definition", nil, "seer-tincan-definition-type $.object.definition.type"),
            Change("object.definition.type", 7, "seer-tincan-definition-type $.object.definition.type"),
            Change("context", nil, "seer-tincan-app-id $.context.extensions.appId"),
            Change("context.extensions.appId", nil, "seer-tincan-app-id $.context.extensions.appId"),
            Change("result", nil), Change("timestamp", "whenever"),
        ]
    )
    func tinCanRules(_ change: Change) {
        let payload = Self.tinCan.setting(change.keys[...], to: change.value)
        let failures = SeerValidator().failures(inTinCan: payload)
        #expect(failures.map { "\($0.rule) \($0.path)" } == change.found)
        for failure in failures { check(failure) }
    }

    @Test("Seer's Tin Can is not valid xAPI, for known rules")
    func notXAPI() {
        let rules = StatementValidator().failures(in: Self.tinCan).map(\.rule.description)
        #expect(rules == ["XAPI-00034", "XAPI-00038", "XAPI-00118", "XAPI-00118"])
    }

    @Test("A payload that is not an object breaks every rule", arguments: [nil, 7, [], "payload", [:]] as [JSONValue])
    func noObject(payload: JSONValue) {
        let isObject = payload == [:]
        #expect(SeerValidator(isStrict: true).failures(inActivity: payload).count == (isObject ? 6 : 7))
        #expect(SeerValidator().failures(inTinCan: payload).count == (isObject ? 5 : 6))
    }

    @Test("Identifiers are different UUIDs")
    func identifiers() {
        let ids = (0..<100).map { _ in Seer.uniqueID() }
        #expect(Set(ids).count == 100)
        #expect(ids.allSatisfy(UUIDFormat.isValid))
        let seeded = RandomSource(SeededGenerator(seed: 1))
        #expect(Seer.uniqueID(from: seeded) == RandomSource(SeededGenerator(seed: 1)).identifier())
    }

    @Test("A message names the requirement and the found value, shortened and escaped")
    func messages() {
        let activity = Self.activity.setting("verb", to: 7).setting("actor", "id", to: nil)
            .setting("context", to: ["a\u{202E}": ["b"]])
            .setting("published", to: .string(String(repeating: "\u{1B}", count: 1_000)))
        let escapes = String(repeating: "\\u001b", count: 13)
        let example = "2026-01-31T09:15:00.250Z"
        #expect(
            SeerValidator(isStrict: true).failures(inActivity: activity).map(\.message) == [
                "`id` is missing; it must be a string that is not empty.",
                "`verb` must be a string that is not empty (found 7).",
                "`a\\u202e` must be a string (found an array of 1 element).",
                "`published` must be a date and time with a zone (ISO 8601), such as \(example) (found \"\(escapes)…\").",
            ]
        )
        let tinCan = Self.tinCan.setting("actor", to: ["name": "Viewer"])
        #expect(
            SeerValidator().failures(inTinCan: tinCan).map(\.message) == [
                "`actor` must have at least one of mbox, mbox_sha1sum, openid, account, not empty (found none)."
            ]
        )
        #expect(
            SeerValidator().failures(inTinCan: []).first?.message
                == "The payload must be an object (found an empty array)."
        )
    }

    private func check(_ failure: ValidationFailure) {
        #expect(failure.message.contains("must") && failure.message.hasSuffix("."), "\(failure)")
        let isMissing = failure.message.contains("is missing; it must")
        #expect(isMissing || failure.message.contains("(found "), "\(failure)")
    }
}

extension JSONValue {
    /// The same object with another value under a path of keys; nil removes the key. Missing objects are created.
    fileprivate func setting(_ keys: String..., to value: JSONValue?) -> JSONValue { setting(keys[...], to: value) }

    fileprivate func setting(_ keys: ArraySlice<String>, to value: JSONValue?) -> JSONValue {
        guard let key = keys.first else { return value ?? .null }
        var members = members ?? [:]
        members[key] =
            keys.count == 1 ? value : (members[key] ?? .object([:])).setting(keys.dropFirst(), to: value)
        return .object(members)
    }
}
